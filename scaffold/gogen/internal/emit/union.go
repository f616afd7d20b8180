package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// union writes a value of one of several types: a struct around a sealed
// interface, so that it can be decoded.
func (e *declWriter) union(g *jen.Group, d *model.Decl) {
	arm, unknown, arms := d.Name+"Arm", d.Name+"Unknown", lower(d.Name)+"Arms"
	g.Type().Id(d.Name).Struct(e.codegen("OneOf").Types(jen.Id(arm)))
	g.Line()
	comment(g, []string{arm + " is what a [" + d.Name + "] holds: " + oneOf("a ", d.Arms) + ", or a [" + unknown + "]."}, docWidth)
	g.Type().Id(arm).Interface(jen.Id("is" + d.Name).Params())
	g.Line()
	comment(g, []string{unknown + " is a value that fits none of the types, as JSON. It is kept, and not valid."}, docWidth)
	g.Type().Id(unknown).Add(raw())
	g.Line()
	for _, a := range append(armNames(d), unknown) {
		g.Func().Params(jen.Id(a)).Id("is" + d.Name).Params().Op("{}")
	}
	g.Line()
	comment(g, []string{"New" + d.Name + " makes a [" + d.Name + "] of a value of one of its types."}, docWidth)
	g.Add(e.constructor(d, arm))
	g.Line()
	g.Var().Id(arms).Op("=").Index().Add(e.codegen("Arm")).CustomFunc(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true},
		func(g *jen.Group) {
			for _, a := range d.Arms {
				g.Add(e.arm(d, a))
			}
			g.Add(e.codegen("ArmUnknown").Types(jen.Id(unknown)).Call())
		})
	g.Line()
	comment(g, []string{"Arms tells how the type of a value is found."}, docWidth)
	g.Func().Params(jen.Id(d.Name)).Id("Arms").Params().Index().Add(e.codegen("Arm")).Add(line(jen.Return(jen.Id(arms))))
	e.decoder(g, d, self)
}

// arm returns one entry of a union's table.
func (e *declWriter) arm(d *model.Decl, a *model.Arm) jen.Code {
	fn, args := "ArmOfKind", a.Kinds
	switch {
	case d.Select == model.SelectMember && len(a.Values) > 0:
		fn, args = "ArmOfMember", append([]string{d.Member}, a.Values...)
	case d.Select == model.SelectKeys && len(a.Keys) > 0:
		fn, args = "ArmOfKeys", a.Keys
	case d.Select == model.SelectFirst:
		fn = "ArmOfFirst"
	}
	lits := make([]jen.Code, len(args))
	for i, s := range args {
		lits[i] = quoted(s)
	}
	return e.codegen(fn).Types(jen.Id(a.Decl.Name)).Call(lits...)
}

// maxTerms is how many types Go's compiler accepts in one constraint.
const maxTerms = 100

// constructor returns the function that makes a union of a value: with a type
// parameter that excludes the unknown arm, unless there are too many arms.
func (e *declWriter) constructor(d *model.Decl, arm string) jen.Code {
	f, v := jen.Func().Id("New"+d.Name), jen.Id("v")
	if len(d.Arms) > maxTerms {
		f.Params(jen.Id("v").Id(arm))
	} else {
		f.Types(jen.Id("T").Add(jen.Union(ids(armNames(d))...))).Params(jen.Id("v").Id("T"))
		v = jen.Any().Call(v).Assert(jen.Id(arm))
	}
	return f.Id(d.Name).Block(jen.Return(jen.Id(d.Name).Values(e.codegen("NewOneOf").Call(v))))
}

func armNames(d *model.Decl) []string {
	names := make([]string, len(d.Arms))
	for i, a := range d.Arms {
		names[i] = a.Decl.Name
	}
	return names
}

func ids(names []string) []jen.Code {
	out := make([]jen.Code, len(names))
	for i, n := range names {
		out[i] = jen.Id(n)
	}
	return out
}

// oneOf returns the types of a union, as doc links.
func oneOf(article string, arms []*model.Arm) string {
	var b strings.Builder
	for i, a := range arms {
		switch {
		case i > 0 && i == len(arms)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(article + "[" + a.Decl.Name + "]")
	}
	return b.String()
}
