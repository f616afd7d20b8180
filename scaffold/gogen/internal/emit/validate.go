package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// validate writes the method that checks a declaration: for parameters and
// results always, for others where there is something to check and the method is
// called.
func (e *checkWriter) validate(g *jen.Group, d *model.Decl) {
	if !d.Top && !e.checks.called[d] || isEnum(d) && !e.checks.arms[d] {
		return
	}
	g.Line()
	fn := func(receiver *jen.Statement) *jen.Statement {
		return g.Func().Params(receiver).Id("Validate").Params().Error()
	}
	if d.Top && d.Schema != "" {
		v := lower(d.Name) + "Schema"
		doc := "Validate checks p with the server's schema"
		if len(d.SchemaFor) > 0 {
			doc += ", for types do not hold its " + strings.Join(d.SchemaFor, ", ")
		}
		comment(g, []string{doc + ". The error is a " + e.link("*", "FieldError") + "."}, docWidth)
		fn(jen.Id("p").Id(d.Name)).Add(line(jen.Return(e.codegen("CheckSchema").Call(jen.Id(v), jen.Op("&").Id("p")))))
		g.Line()
		g.Var().Id(v).Op("=").Add(e.schema("Lazy")).Call(quoted(d.Schema))
		return
	}
	var code []jen.Code
	if e.checks.some[d] {
		code = e.declChecks(d)
	}
	if len(code) == 0 {
		g.Comment("// Validate finds nothing wrong: there is no rule that the types do not hold.")
		fn(jen.Id(d.Name)).Add(line(jen.Return(jen.Nil())))
		return
	}
	g.Comment("// Validate checks p as the server's schema does. The error is a " + e.link("*", "FieldError") + ".")
	f := fn(jen.Id("p").Id(d.Name))
	if len(code) == 1 && !d.Loose {
		f.Add(line(jen.Return(code[0])))
		return
	}
	f.BlockFunc(func(g *jen.Group) {
		if d.Loose {
			g.If(jen.Id("p").Dot("Other").Op("!=").Nil()).Block(jen.Return(jen.Nil()))
		}
		g.Return(e.all(code))
	})
}

// all joins checks; the first failure counts.
func (e *checkWriter) all(code []jen.Code) jen.Code {
	if len(code) == 1 {
		return code[0]
	}
	return e.codegen("First").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, code...)
}

// value returns a new copy of an expression.
type value func() *jen.Statement

func (e *checkWriter) declChecks(d *model.Decl) []jen.Code {
	p := value(self)
	switch d.Form {
	case model.StringEnum, model.IntEnum, model.MixedEnum:
		return []jen.Code{e.codegen("Enum").Call(p())}
	case model.Union:
		return []jen.Code{e.codegen("CheckArm").Types(jen.Id(d.Name + "Unknown")).Call(p().Dot("Value").Call())}
	case model.Defined:
		// A defined type does not have the other's methods.
		v := p
		if d.Under.Kind == model.Named {
			v = func() *jen.Statement { return jen.Id(d.Under.Decl.Name).Call(jen.Id("p")) }
		}
		return append(e.valueChecks(v, d.Under), e.rules(p, d.Rules, d.Under)...)
	case model.Wrapper:
		v := value(func() *jen.Statement { return jen.Id("p").Dot("Value") })
		if d.UnderNull && d.Under.Kind != model.Raw {
			if f := e.function(d.Under); f != nil {
				return []jen.Code{e.codegen("If").Call(v(), f)}
			}
			return nil
		}
		return append(e.valueChecks(v, d.Under), e.rules(v, d.Rules, d.Under)...)
	default:
		return e.memberChecks(d)
	}
}

// memberChecks returns the checks of structs and tuples.
func (e *checkWriter) memberChecks(d *model.Decl) []jen.Code {
	var out []jen.Code
	for _, f := range d.Fields {
		if c := e.fieldCheck(f); c != nil {
			out = append(out, e.codegen("At").Call(c, e.step(d, f)))
		}
	}
	rest := value(func() *jen.Statement { return jen.Id("p").Dot("Extra") })
	each := "EachValue"
	if d.Form == model.Tuple {
		rest = func() *jen.Statement { return jen.Id("p").Dot("Rest") }
		each = "EachRest"
	}
	switch {
	case closed(d) && d.Form == model.Tuple:
		out = append(out, e.codegen("NoRest").Call(rest(), jen.Lit(len(d.Fields))))
	case closed(d):
		out = append(out, e.codegen("NoExtra").Call(rest()))
	case d.Rest != nil:
		if f := e.elementFunction(d.Rest, d.RestNull); f != nil {
			args := []jen.Code{rest(), f}
			if d.Form == model.Tuple {
				args = append(args, jen.Lit(len(d.Fields)))
			}
			out = append(out, e.codegen(each).Call(args...))
		}
	}
	if d.Form == model.Tuple && gaps(d) {
		more := jen.False()
		if e.rest(d) != nil {
			more = jen.Len(rest()).Op(">").Lit(0)
		}
		out = append(out, e.codegen("NoGap").Call(append(e.present(value(self), d), more)...))
	}
	return append(out, e.rules(value(self), d.Rules, &model.Type{Kind: model.Named, Decl: d})...)
}

func (e *checkWriter) step(d *model.Decl, f *model.Field) jen.Code {
	if d.Form == model.Tuple {
		if i, err := strconv.Atoi(f.JSON); err == nil {
			return jen.Lit(i)
		}
	}
	return jen.Lit(f.JSON)
}

// fieldCheck returns the check of one member, nil where there is none.
func (e *checkWriter) fieldCheck(f *model.Field) jen.Code {
	if f.Presence == model.Constant {
		return nil
	}
	v := value(func() *jen.Statement { return jen.Id("p").Dot(f.Name) })
	how := holds(f)
	if how == plain || how == zero && under(f.Type).Kind != model.Raw && nilIsValid(f.Type) {
		if code := e.valueChecks(v, f.Type); len(code) > 0 {
			return e.all(code)
		}
		return nil
	}
	fn := e.function(f.Type)
	must := how == pointer && f.Presence == model.Always
	if fn == nil && !must {
		return nil
	}
	if fn == nil {
		fn = jen.Nil()
	}
	name := "If"
	switch {
	case must:
		name = "Must"
	case how == opt:
		name = "IfOpt"
	case how == zero && under(f.Type).Kind == model.Map:
		name = "IfMap"
	case how == zero:
		name = "IfList"
	}
	return e.codegen(name).Call(v(), fn)
}

// nilIsValid reports whether a type has no check that nil could fail.
func nilIsValid(t *model.Type) bool {
	return t.Kind != model.Named && !t.Rules.Any()
}

// function returns the check of a value of the type, nil where there is none.
func (e *checkWriter) function(t *model.Type) jen.Code {
	v := value(func() *jen.Statement { return jen.Id("v") })
	code := e.valueChecks(v, t)
	switch {
	case len(code) == 0:
		return nil
	case t.Kind == model.Named && !t.Rules.Any() && isEnum(t.Decl):
		return e.codegen("Enum")
	case t.Kind == model.Named && !t.Rules.Any():
		return jen.Id(t.Decl.Name).Dot("Validate")
	}
	return jen.Func().Params(v().Add(e.typ(t))).Error().Add(line(jen.Return(e.all(code))))
}

// elementFunction returns the check of an element of a list or map.
func (e *checkWriter) elementFunction(t *model.Type, null bool) jen.Code {
	f := e.function(t)
	if f == nil || !null || t.Kind == model.Raw {
		return f
	}
	return jen.Func().Params(jen.Id("v").Op("*").Add(e.typ(t))).Error().Add(line(jen.Return(e.codegen("If").Call(jen.Id("v"), f))))
}

// valueChecks returns the checks of a value that is present and not null.
func (e *checkWriter) valueChecks(v value, t *model.Type) []jen.Code {
	out := e.rules(v, t.Rules, t)
	switch t.Kind {
	case model.Named:
		if isEnum(t.Decl) {
			out = append(out, e.codegen("Enum").Call(v()))
		} else if e.checks.some[t.Decl] && (e.checks.called[t.Decl] || t.Decl.Top) {
			out = append(out, v().Dot("Validate").Call())
		}
	case model.List:
		if f := e.elementFunction(t.Elem, t.ElemNull); f != nil {
			out = append(out, e.codegen("Each").Call(v(), f))
		}
	case model.Map:
		if f := e.elementFunction(t.Elem, t.ElemNull); f != nil {
			out = append(out, e.codegen("EachValue").Call(v(), f))
		}
	default:
	}
	return out
}
