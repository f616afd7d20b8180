package build

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// buildPrompts makes a function of each prompt. Its arguments are strings
// (2025-11-25, prompts/get).
func buildPrompts(p *model.Package, list []runtime.Prompt) {
	for i := range list {
		in := &list[i]
		m := &model.Prompt{Name: in.Name, Optional: true, Doc: entryDoc("gets the prompt", in.Name, in.Title, in.Description)}
		if len(in.Arguments) > 0 {
			m.Params = &model.Decl{Top: true, Key: topKey("prompts", in.Name, "/arguments")}
			p.Decls = append(p.Decls, m.Params)
		}
		seen := map[string]bool{}
		for _, a := range in.Arguments {
			if seen[a.Name] {
				continue
			}
			seen[a.Name] = true
			f := &model.Field{JSON: a.Name, Type: &model.Type{Kind: model.String}, Presence: presence(a.Required, false)}
			f.Doc = annotations{title: a.Title, description: a.Description}.doc()
			m.Optional = m.Optional && !a.Required
			m.Params.Fields = append(m.Params.Fields, f)
		}
		if m.Params != nil {
			sortFields(m.Params.Fields)
		}
		p.Prompts = append(p.Prompts, m)
	}
}

func buildResources(p *model.Package, list []runtime.Resource) {
	for _, in := range list {
		doc := entryDoc("reads the resource", in.Name, in.Title, in.Description)
		doc = append(doc, mediaDoc(in.URI, in.MIMEType))
		p.Resources = append(p.Resources, &model.Resource{URI: in.URI, Name: in.Name, Doc: doc})
	}
}

// buildTemplates makes a function of each URI template. A variable in the path
// is required, one of a query (RFC 6570, form-style) optional.
func buildTemplates(p *model.Package, list []runtime.ResourceTemplate) {
	for _, in := range list {
		t, err := codegen.ParseTemplate(in.URITemplate)
		if err != nil {
			p.Warnings = append(p.Warnings, model.Warning{
				Pointer: "resource template " + in.URITemplate, Reason: err.Error() + ": no function is made of it",
			})
			continue
		}
		doc := entryDoc("reads what the resource template leads to:", in.Name, in.Title, in.Description)
		doc = append(doc, mediaDoc(in.URITemplate, in.MIMEType))
		m := &model.Template{URITemplate: in.URITemplate, Name: in.Name, Doc: doc}
		m.Params = &model.Decl{Top: true, Key: topKey("resourceTemplates", in.URITemplate, "/uriTemplate")}
		seen := map[string]bool{}
		for _, v := range t.Vars() {
			if seen[v.Name] {
				continue
			}
			seen[v.Name] = true
			f := &model.Field{JSON: v.Name, Type: &model.Type{Kind: model.String}, Presence: model.Always}
			if v.Explode {
				f.Type = &model.Type{Kind: model.List, Elem: f.Type}
			}
			if strings.IndexByte("?&;#", v.Operator) >= 0 {
				f.Presence = model.OrAbsent
			}
			m.Params.Fields = append(m.Params.Fields, f)
		}
		sortFields(m.Params.Fields)
		p.Decls = append(p.Decls, m.Params)
		p.Templates = append(p.Templates, m)
	}
}

func sortFields(fields []*model.Field) {
	slices.SortFunc(fields, func(a, b *model.Field) int {
		return requiredFirst(a.Presence == model.Always, b.Presence == model.Always, a.JSON, b.JSON)
	})
}

// requiredFirst orders members: required ones first, each group by name.
func requiredFirst(x, y bool, a, b string) int {
	switch {
	case x == y:
		return strings.Compare(a, b)
	case x:
		return -1
	}
	return 1
}

// entryDoc returns a function's documentation, with the name in the first
// sentence.
func entryDoc(verb, name, title, description string) []string {
	first := verb + ` "` + name + `"`
	if title != "" && title != name {
		first += ": " + title
	}
	doc := []string{first + "."}
	if description != "" {
		doc = append(doc, description)
	}
	return doc
}

func mediaDoc(uri, mime string) string {
	if mime == "" {
		return "URI: " + uri
	}
	return "URI: " + uri + " (" + mime + ")"
}
