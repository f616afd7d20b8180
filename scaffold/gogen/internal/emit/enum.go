package emit

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

func (e *declWriter) enum(g *jen.Group, d *model.Decl) {
	base, lit := jen.String(), func(v *model.Value) jen.Code { return jen.Lit(v.Text) }
	if d.Form == model.IntEnum {
		base, lit = jen.Int64(), func(v *model.Value) jen.Code { return jen.Op(v.Text) }
	}
	g.Type().Id(d.Name).Add(base)
	g.Line()
	if len(d.Values) > 0 {
		g.Comment("// Values of [" + d.Name + "].")
		g.Const().DefsFunc(func(g *jen.Group) {
			for _, v := range d.Values {
				comment(g, []string{v.Doc}, fieldWidth)
				g.Id(v.Name).Id(d.Name).Op("=").Add(lit(v))
			}
		})
		g.Line()
	}
	e.values(g, d)
}

// mixed writes an enum of values of several kinds as variables: Go has no such
// constants.
func (e *declWriter) mixed(g *jen.Group, d *model.Decl) {
	g.Type().Id(d.Name).Struct(e.codegen("Literal"))
	g.Line()
	g.Comment("// Values of [" + d.Name + "].")
	g.Var().DefsFunc(func(g *jen.Group) {
		for _, v := range d.Values {
			comment(g, []string{v.Doc}, fieldWidth)
			g.Id(v.Name).Op("=").Id(d.Name).Values(e.codegen("NewLiteral").Call(quoted(v.Text)))
		}
	})
	g.Line()
	e.values(g, d)
}

// quoted returns a string literal, in backquotes where that is easier to read
// and every character is visible.
func quoted(s string) *jen.Statement {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsAny(s, `"\`) && strconv.CanBackquote(s) && !strings.ContainsFunc(s, hidden) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

// values writes the methods for the values of an enum.
func (e *declWriter) values(g *jen.Group, d *model.Decl) {
	g.Comment("// Values gives all values in the schema's order.")
	g.Func().Params(jen.Id(d.Name)).Id("Values").Params().Index().Id(d.Name).
		Block(jen.Return(jen.Index().Id(d.Name).Add(names(d))))
	g.Line()
	g.Comment("// Valid reports whether p is one of the values. Results of a newer server may hold others.")
	g.Func().Params(jen.Id("p").Id(d.Name)).Id("Valid").Params().Bool().
		Add(line(jen.Return(jen.Qual("slices", "Contains").Call(jen.Id("p").Dot("Values").Call(), jen.Id("p")))))
}

// names returns the values in braces, as many on a line as fit.
func names(d *model.Decl) jen.Code {
	const width = 110
	var lines []string
	for _, v := range d.Values {
		if n := len(lines); n > 0 && len(lines[n-1])+len(v.Name)+2 <= width {
			lines[n-1] += ", " + v.Name
			continue
		}
		lines = append(lines, v.Name)
	}
	code := make([]jen.Code, len(lines))
	for i, l := range lines {
		code[i] = jen.Id(l)
	}
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: len(lines) > 1}, code...)
}
