package names

import (
	"cmp"
	"slices"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// MaxRetired is how many names of removed things are kept: enough for a tool of
// some hundred members to come and go, few enough to read.
const MaxRetired = 1000

// locked is the names of a lock file, indexed.
type locked struct {
	*Names
	none   bool
	gone   map[[3]string]string
	fields map[string][]Retired
	// retired are all but the fields.
	retired []Retired
}

func (n *Names) index() *locked {
	if n == nil {
		return &locked{Names: &Names{}, none: true}
	}
	l := &locked{Names: n, gone: map[[3]string]string{}, fields: map[string][]Retired{}}
	for _, r := range n.Retired {
		l.gone[[3]string{r.Kind, r.Key, r.Member}] = r.Name
		if r.Kind == KindField {
			l.fields[r.Key] = append(l.fields[r.Key], r)
		} else {
			l.retired = append(l.retired, r)
		}
	}
	return l
}

// name returns the name of a thing, present or retired.
func (l *locked) name(kind, key, member string) (string, bool) {
	t := l.Types[key]
	name := cmp.Or(l.methods(kind)[key], t.members(kind)[member])
	if kind == KindType && t != nil {
		name = t.Name
	}
	name = cmp.Or(name, l.gone[[3]string{kind, key, member}])
	return name, name != ""
}

func (n *Names) methods(kind string) map[string]string {
	switch kind {
	case KindTool:
		return n.Tools
	case KindPrompt:
		return n.Prompts
	case KindResource:
		return n.Resources
	case KindTemplate:
		return n.Templates
	}
	return nil
}

func (t *Type) members(kind string) map[string]string {
	switch {
	case t == nil:
	case kind == KindField:
		return t.Fields
	case kind == KindValue:
		return t.Values
	case kind == KindDefault:
		return t.Defaults
	}
	return nil
}

// all returns every name as it is listed in Retired, in no order.
func (n *Names) all() []Retired {
	var out []Retired
	for _, kind := range []string{KindTool, KindPrompt, KindResource, KindTemplate} {
		for key, name := range n.methods(kind) {
			out = append(out, Retired{Kind: kind, Key: key, Name: name})
		}
	}
	for key, t := range n.Types {
		if t == nil {
			continue
		}
		out = append(out, Retired{Kind: KindType, Key: key, Name: t.Name})
		for _, kind := range []string{KindField, KindValue, KindDefault} {
			for member, name := range t.members(kind) {
				out = append(out, Retired{Kind: kind, Key: key, Member: member, Name: name})
			}
		}
	}
	return out
}

// lock returns the names in use, and those of what has gone since before.
func lock(p *model.Package, before *locked) *Names {
	n := &Names{
		Tools: map[string]string{}, Prompts: map[string]string{}, Resources: map[string]string{}, Templates: map[string]string{},
		Types: make(map[string]*Type, len(p.Decls)),
	}
	for _, t := range p.Tools {
		n.Tools[t.Name] = t.GoName
	}
	for _, x := range p.Prompts {
		n.Prompts[x.Name] = x.GoName
	}
	for _, x := range p.Resources {
		n.Resources[x.URI] = x.GoName
	}
	for _, x := range p.Templates {
		n.Templates[x.URITemplate] = x.GoName
	}
	for _, d := range p.Decls {
		n.Types[d.Key] = lockDecl(d)
	}
	if before.none {
		return n
	}
	all := n.all()
	living := make(map[[3]string]bool, len(all))
	for _, r := range all {
		living[[3]string{r.Kind, r.Key, r.Member}] = true
	}
	gone := func(list []Retired) []Retired {
		return slices.DeleteFunc(list, func(r Retired) bool { return living[[3]string{r.Kind, r.Key, r.Member}] })
	}
	newly := gone(before.all())
	slices.SortFunc(newly, func(a, b Retired) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Member, b.Member))
	})
	n.Retired = append(gone(slices.Clone(before.Retired)), newly...)
	if over := len(n.Retired) - MaxRetired; over > 0 {
		n.Retired = n.Retired[over:]
	}
	return n
}

func lockDecl(d *model.Decl) *Type {
	t := &Type{Name: d.Name}
	put := func(m *map[string]string, key, name string) {
		if name == "" {
			return
		}
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[key] = name
	}
	for _, f := range d.Fields {
		put(&t.Fields, f.JSON, f.Name)
		put(&t.Defaults, f.JSON, f.DefaultName)
	}
	for _, v := range d.Values {
		put(&t.Values, v.Text, v.Name)
	}
	return t
}
