package names_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// sketch is a package in a few words.
type sketch struct {
	tools     []tool
	prompts   []string
	resources [][2]string // URI, name
	templates [][2]string
}

type tool struct {
	name    string
	in, out []member
}

// member is a field. Its type is an enum where it has values, a struct where it
// has members, a union where it has arms, otherwise a string.
type member struct {
	name    string
	values  []string
	members []member
	arms    []string
	def     string
}

func plain(texts ...string) []member {
	out := make([]member, len(texts))
	for i, s := range texts {
		out[i].name = s
	}
	return out
}

type builder struct {
	p    *model.Package
	tool string
	side model.Side
}

// build returns the model in the order of the sketch.
func (s sketch) build() *model.Package {
	b := &builder{p: &model.Package{Name: "p"}}
	for _, t := range s.tools {
		b.tool = t.name
		b.side = model.Input
		mt := &model.Tool{Name: t.name, Params: b.top(names.Key("tools", t.name, "/inputSchema"))}
		b.fields(mt.Params, t.in)
		if t.out != nil {
			b.side = model.Output
			mt.Result = b.top(names.Key("tools", t.name, "/outputSchema"))
			b.fields(mt.Result, t.out)
		}
		b.p.Tools = append(b.p.Tools, mt)
	}
	b.tool, b.side = "", model.Input
	for _, name := range s.prompts {
		b.p.Prompts = append(b.p.Prompts, &model.Prompt{Name: name, Params: b.top(names.Key("prompts", name, "/arguments"))})
	}
	for _, x := range s.resources {
		b.p.Resources = append(b.p.Resources, &model.Resource{URI: x[0], Name: x[1]})
	}
	for _, x := range s.templates {
		b.p.Templates = append(b.p.Templates, &model.Template{
			URITemplate: x[0], Name: x[1], Params: b.top(names.Key("resourceTemplates", x[0], "/uriTemplate")),
		})
	}
	return b.p
}

func (b *builder) top(key string) *model.Decl {
	d := b.decl(key, "", model.Struct)
	d.Top = true
	return d
}

func (b *builder) decl(key, want string, form model.Form) *model.Decl {
	d := &model.Decl{Key: key, Tool: b.tool, Side: b.side, Want: want, Form: form}
	b.p.Decls = append(b.p.Decls, d)
	return d
}

func (b *builder) fields(d *model.Decl, members []member) {
	for _, m := range members {
		key := d.Key + "/properties/" + m.name
		want, _ := names.Join(d.Want, names.Exported(m.name))
		f := &model.Field{JSON: m.name, Type: &model.Type{Kind: model.String}, Default: m.def}
		switch {
		case m.values != nil:
			e := b.decl(key, want, model.StringEnum)
			for _, v := range m.values {
				e.Values = append(e.Values, &model.Value{Text: v})
			}
			f.Type = &model.Type{Kind: model.Named, Decl: e}
		case m.members != nil:
			s := b.decl(key, want, model.Struct)
			b.fields(s, m.members)
			f.Type = &model.Type{Kind: model.Named, Decl: s}
		case m.arms != nil:
			u := b.decl(key, want, model.Union)
			for _, arm := range m.arms {
				u.Arms = append(u.Arms, &model.Arm{Decl: b.decl(key+"/oneOf/"+arm, want+names.Exported(arm), model.Defined)})
			}
			f.Type = &model.Type{Kind: model.Named, Decl: u}
		}
		d.Fields = append(d.Fields, f)
	}
}

// identifiers returns all names of a package, by their place and purpose.
func identifiers(p *model.Package) map[string]string {
	out := map[string]string{}
	for _, t := range p.Tools {
		out["method tool "+t.Name] = t.GoName
	}
	for _, x := range p.Prompts {
		out["method prompt "+x.Name] = x.GoName
	}
	for _, x := range p.Resources {
		out["method resource "+x.URI] = x.GoName
	}
	for _, x := range p.Templates {
		out["method template "+x.URITemplate] = x.GoName
	}
	for _, d := range p.Decls {
		out["package type "+d.Key] = d.Name
		if d.Form == model.Union {
			out["package new "+d.Key] = "New" + d.Name
			out["package arm "+d.Key] = d.Name + "Arm"
			out["package unknown "+d.Key] = d.Name + "Unknown"
		}
		for _, v := range d.Values {
			out["package value "+d.Key+" "+strconv.Quote(v.Text)] = v.Name
		}
		for _, f := range d.Fields {
			out["in:"+strconv.Quote(d.Key)+" field "+f.JSON] = f.Name
			if f.DefaultName != "" {
				out["package default "+d.Key+" "+f.JSON] = f.DefaultName
			}
		}
	}
	return out
}

// scopeOf returns the scope in which the names of [identifiers] have to differ.
func scopeOf(what string) string {
	if strings.HasPrefix(what, "in:") {
		scope, _, _ := strings.Cut(what, " field ")
		return scope
	}
	scope, _, _ := strings.Cut(what, " ")
	return scope
}

// sorted returns the entries of a map as lines.
func sorted(m map[string]string) []string {
	var out []string
	for _, k := range slices.SortedFunc(maps.Keys(m), cmp.Compare[string]) {
		out = append(out, k+" = "+m[k])
	}
	return out
}
