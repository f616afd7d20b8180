package emit

import (
	"encoding/json"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// defaults writes the constants of a declaration's defaults and, for parameters,
// the method that sets them.
func (e *declWriter) defaults(g *jen.Group, d *model.Decl) {
	var consts []*model.Field
	absent := false
	for _, f := range d.Fields {
		if f.DefaultName != "" && f.Default != "" {
			consts = append(consts, f)
		}
		absent = absent || takesDefault(f)
	}
	one := func(f *model.Field) *jen.Statement {
		typ, lit := e.constant(f)
		return jen.Id(f.DefaultName).Add(typ).Op("=").Add(lit)
	}
	switch {
	case len(consts) == 1:
		g.Line()
		comment(g, []string{consts[0].DefaultName + " is the server's default for [" + d.Name + "." + consts[0].Name + "]."}, docWidth)
		g.Const().Add(one(consts[0]))
	case len(consts) > 1:
		g.Line()
		g.Comment("// The server's defaults for members of [" + d.Name + "].")
		g.Const().DefsFunc(func(g *jen.Group) {
			for _, f := range consts {
				g.Add(one(f))
			}
		})
	}
	if !d.Top || d.Side != model.Input || !absent {
		return
	}
	g.Line()
	g.Comment("// WithDefaults gives a copy in which members that are absent have the server's defaults.")
	g.Func().Params(jen.Id("p").Id(d.Name)).Id("WithDefaults").Params().Id(d.Name).BlockFunc(func(g *jen.Group) {
		for _, f := range d.Fields {
			if takesDefault(f) {
				g.Add(e.setDefault(f))
			}
		}
		g.Return(jen.Id("p"))
	})
}

// takesDefault reports whether a default can replace a missing member.
func takesDefault(f *model.Field) bool {
	return f.Default != "" && (f.Presence == model.OrAbsent || f.Presence == model.OrAbsentOrNull)
}

func (e *declWriter) setDefault(f *model.Field) *jen.Statement {
	member := jen.Op("&").Id("p").Dot(f.Name)
	if f.DefaultName != "" && fits(f.Default, f.Type) {
		switch holds(f) {
		case pointer:
			return e.codegen("Default").Call(member, jen.Id(f.DefaultName))
		case opt:
			return e.codegen("DefaultOpt").Call(member, jen.Id(f.DefaultName))
		default:
		}
	}
	return e.codegen("DefaultJSON").Call(member, quoted(f.Default))
}

// fits reports whether a constant of the type can be the default.
func fits(text string, t *model.Type) bool {
	t = under(t)
	switch text[0] {
	case '"':
		return t.Kind == model.String || t.Kind == model.Format || t.Kind == model.Named && t.Decl.Form == model.StringEnum
	case 't', 'f':
		return t.Kind == model.Bool
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		switch {
		case t.Kind == model.Int, t.Kind == model.Named && t.Decl.Form == model.IntEnum:
			_, ok := model.Int64(text)
			return ok
		case t.Kind == model.Float:
			return model.IsFloat64(text)
		default:
			return t.Kind == model.Decimal
		}
	}
	return false
}

// constant returns a default's Go type and value. One that does not fit the
// member's type has its own JSON type.
func (e *declWriter) constant(f *model.Field) (typ, lit jen.Code) {
	text, t := f.Default, under(f.Type)
	typ = jen.Null()
	if fits(text, f.Type) {
		typ = e.typ(f.Type)
	}
	switch {
	case text == "true", text == "false":
		return typ, jen.Id(text)
	case text[0] == '"':
		var s string
		if json.Unmarshal([]byte(text), &s) != nil {
			s = text
		}
		return typ, jen.Lit(s)
	case fits(text, f.Type) && t.Kind != model.Decimal:
		if i, ok := model.Int64(text); ok {
			text = strconv.FormatInt(i, 10)
		}
		return typ, jen.Op(text)
	default:
		return jen.Qual("encoding/json", "Number"), jen.Lit(text)
	}
}
