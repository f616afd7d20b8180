package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// checks are the declarations with something to check.
type checks struct {
	// some declarations can be invalid, themselves or inside.
	some map[*model.Decl]bool
	// called declarations have a Validate method that is called.
	called map[*model.Decl]bool
	// arms of unions have a Validate method although they are enums.
	arms map[*model.Decl]bool
	// options are parameters that travel as an option of the call.
	options map[*model.Decl]bool
	// first describes parameters and results.
	first map[*model.Decl]string
	// patterns are the names of the variables that hold them.
	patterns map[string]string
}

func findChecks(p *model.Package) *checks {
	c := &checks{
		map[*model.Decl]bool{},
		map[*model.Decl]bool{},
		map[*model.Decl]bool{},
		map[*model.Decl]bool{},
		map[*model.Decl]string{},
		map[string]string{},
	}
	take := func(d *model.Decl, optional bool, first string) {
		if d != nil {
			c.options[d], c.first[d] = optional, first
		}
	}
	for _, t := range p.Tools {
		take(t.Params, t.Optional, areArguments(t.GoName, t.Optional))
		take(t.Result, false, "is what [Client."+t.GoName+"] returns.")
	}
	for _, t := range p.Prompts {
		take(t.Params, t.Optional, areArguments(t.GoName, t.Optional))
	}
	for _, t := range p.Templates {
		take(t.Params, false, "are the variables of the URI template of [Client."+t.GoName+"].")
	}
	for changed := true; changed; { // each round marks one more declaration, or is the last
		changed = false
		for _, d := range slices.Backward(p.Decls) {
			if !c.some[d] && c.any(d) {
				c.some[d], changed = true, true
			}
		}
	}
	for _, d := range p.Decls {
		for _, a := range d.Arms {
			c.arms[a.Decl] = true
		}
	}
	for _, d := range p.Decls {
		if d.Top && d.Schema == "" {
			c.call(d)
		}
		if d.Form == model.Union && d.Select == model.SelectFirst {
			for _, a := range d.Arms { // the codec asks them which is right
				c.call(a.Decl)
			}
		}
	}
	return c
}

func areArguments(method string, optional bool) string {
	if optional {
		return "are the arguments of [Client." + method + "], none of them required: an option of the call."
	}
	return "are the arguments of [Client." + method + "]."
}

// call marks a declaration whose Validate is called, and those it calls.
func (c *checks) call(d *model.Decl) {
	if c.called[d] || !c.some[d] && !d.Top {
		return
	}
	c.called[d] = true
	for _, t := range types(d) {
		c.patternsOf(t.Rules)
		if t.Kind == model.Named {
			c.call(t.Decl)
		}
	}
	c.patternsOf(d.Rules)
	for _, a := range d.Arms {
		c.call(a.Decl)
	}
}

func (c *checks) patternsOf(r *model.Rules) {
	if r == nil {
		return
	}
	for _, p := range r.Patterns {
		c.patterns[p] = "patternX" + textDigest(p)
	}
}

// types returns all types inside a declaration, also inside lists and maps.
func types(d *model.Decl) []*model.Type {
	var out []*model.Type
	add := func(t *model.Type) {
		for ; t != nil; t = t.Elem {
			out = append(out, t)
		}
	}
	for _, f := range d.Fields {
		if f.Presence != model.Constant {
			add(f.Type)
		}
	}
	add(d.Rest)
	add(d.Under)
	return out
}

// any reports whether a declaration has checks, as far as is known yet.
func (c *checks) any(d *model.Decl) bool {
	switch {
	case d.Form == model.Union, isEnum(d):
		return true
	case closed(d), d.Rules.Any(), d.Form == model.Tuple && gaps(d):
		return true
	}
	for _, f := range d.Fields {
		if f.Indirect && f.Presence == model.Always {
			return true
		}
	}
	return slices.ContainsFunc(types(d), func(t *model.Type) bool {
		return t.Rules.Any() || t.Kind == model.Named && c.some[t.Decl]
	})
}

func isEnum(d *model.Decl) bool {
	return d.Form == model.StringEnum || d.Form == model.IntEnum || d.Form == model.MixedEnum
}

// closed reports whether a declaration has room for values that its schema does
// not allow: results keep what newer servers add.
func closed(d *model.Decl) bool {
	return d.Rest == nil && d.Side == model.Output && (d.Form == model.Struct || d.Form == model.Tuple)
}

// gaps reports whether a tuple could lack an item before another.
func gaps(d *model.Decl) bool {
	n := 0
	for _, f := range d.Fields {
		if f.Presence == model.OrAbsent || f.Presence == model.OrAbsentOrNull {
			n++
		}
	}
	return n > 1 || n == 1 && (d.Rest != nil || d.Side == model.Output)
}

// patternVars writes the patterns of the whole package.
func (e *checkWriter) patternVars(g *jen.Group) {
	if len(e.checks.patterns) == 0 {
		return
	}
	texts := make([]string, 0, len(e.checks.patterns))
	for p := range e.checks.patterns {
		texts = append(texts, p)
	}
	slices.Sort(texts)
	g.Line()
	g.Comment("// Patterns, each compiled by the first check that needs it.")
	g.Var().DefsFunc(func(g *jen.Group) {
		for _, p := range texts {
			g.Id(e.checks.patterns[p]).Op("=").Add(e.codegen("NewPattern")).Call(quoted(p))
		}
	})
}
