package gogen

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/dave/jennifer/jen"
)

// code is the Go type of a value that is not null.
func (t *typ) code() *jen.Statement {
	switch t.kind {
	case kindString:
		return jen.String()
	case kindBool:
		return jen.Bool()
	case kindInt:
		return jen.Int64()
	case kindFloat:
		return jen.Float64()
	case kindNumber:
		return jen.Qual("encoding/json", "Number")
	case kindList:
		return jen.Index().Add(t.elem.element(t.elemNull))
	case kindMap:
		return jen.Map(jen.String()).Add(t.elem.element(t.elemNull))
	case kindNamed:
		return jen.Id(t.named.goName)
	default:
		return jen.Qual("encoding/json", "RawMessage")
	}
}

// element is the type of a value inside a list or map.
func (t *typ) element(null bool) *jen.Statement {
	if null && t.kind != kindRaw {
		return jen.Op("*").Add(t.code())
	}
	return t.code()
}

// nilable types have a nil that stands for null or absent.
func (t *typ) nilable() bool {
	switch t.kind {
	case kindRaw, kindList, kindMap:
		return true
	case kindNamed:
		return t.named.form == formDefined
	default:
		return false
	}
}

// code is the Go type of a field.
func (f *field) code() *jen.Statement {
	switch {
	case f.presence == orAbsentOrNull && f.typ.kind != kindRaw:
		return jen.Qual(runtimePath, "Opt").Types(f.typ.code())
	case f.indirect, f.presence != always && !f.typ.nilable():
		return jen.Op("*").Add(f.typ.code())
	}
	return f.typ.code()
}

// method is the one of runtime.Object that ties the field to its member.
func (f *field) method() string {
	switch f.presence {
	case orAbsent, orAbsentOrNull:
		return "Optional"
	case orNull:
		if f.typ.kind == kindRaw {
			// Raw JSON holds its own null; forgetting it is a mistake.
			return "Required"
		}
		return "Nullable"
	default:
		return "Required"
	}
}

// plainName is what a json struct tag can spell and everybody can read.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_.$/:@+ -]+$`)

func (f *field) tag() jen.Code {
	if !plainName.MatchString(f.json) || f.json == "-" {
		return jen.Null()
	}
	tag := f.json
	if f.presence == orAbsent || f.presence == orAbsentOrNull {
		tag += ",omitzero"
	}
	return jen.Tag(map[string]string{"json": tag})
}

func emitType(g *jen.Group, t *named) {
	g.Line()
	comment(g, docOf(t.goName, t.doc), docWidth)
	switch t.form {
	case formStringEnum, formIntEnum:
		emitEnum(g, t)
	case formDefined:
		g.Type().Id(t.goName).Add(t.under.code())
	case formWrapper:
		g.Type().Id(t.goName).StructFunc(func(g *jen.Group) {
			comment(g, []string{"Value is the structured content."}, fieldWidth)
			g.Id("Value").Add(t.under.element(t.underNull))
			emitRaw(g)
		})
	default:
		emitStruct(g, t)
	}
}

func emitRaw(g *jen.Group) {
	comment(g, []string{"Raw is the whole result as the server sent it."}, fieldWidth)
	g.Id("Raw").Op("*").Qual(runtimePath, "ToolResult").Tag(map[string]string{"json": "-"})
}

func emitStruct(g *jen.Group, t *named) {
	g.Type().Id(t.goName).StructFunc(func(g *jen.Group) {
		for _, f := range t.fields {
			if f.presence == constant {
				comment(g, []string{"The member " + strconv.Quote(f.json) + " is always " + f.literal + " and needs no field."}, fieldWidth)
				continue
			}
			comment(g, f.doc, fieldWidth)
			g.Id(f.goName).Add(f.code()).Add(f.tag())
		}
		if t.rest != nil {
			comment(g, []string{"Extra holds members the schema does not name; nil is none."}, fieldWidth)
			g.Id("Extra").Map(jen.String()).Add(t.rest.element(t.restNull)).Tag(map[string]string{"json": "-"})
		}
		if t.result {
			emitRaw(g)
		}
	})
	g.Line()
	g.Func().Params(jen.Id("v").Op("*").Id(t.goName)).Id("object").Params().Op("*").Qual(runtimePath, "Object").
		Block(jen.Return(members(t)))
	g.Line()
	g.Comment("// MarshalJSON encodes the members that are there.")
	g.Func().Params(jen.Id("v").Id(t.goName)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Block(jen.Return(jen.Id("v").Dot("object").Call().Dot("Marshal").Call()))
	g.Line()
	g.Comment("// UnmarshalJSON decodes and tells absent, null and zero apart.")
	g.Func().Params(jen.Id("v").Op("*").Id(t.goName)).Id("UnmarshalJSON").Params(jen.Id("b").Index().Byte()).Error().
		Block(jen.Return(jen.Id("v").Dot("object").Call().Dot("Unmarshal").Call(jen.Id("b"))))
}

// members is the chain that ties fields to members.
func members(t *named) *jen.Statement {
	s := jen.New(jen.Qual(runtimePath, "Object"))
	for _, f := range t.fields {
		s.Op(".").Line()
		if f.presence == constant {
			s.Id("Const").Call(jen.Lit(f.json), jen.Lit(f.literal))
			continue
		}
		s.Id(f.method()).Call(jen.Lit(f.json), jen.Op("&").Id("v").Dot(f.goName))
	}
	if t.rest != nil {
		s.Op(".").Line().Id("Rest").Call(jen.Op("&").Id("v").Dot("Extra"))
	}
	return s
}

func emitEnum(g *jen.Group, t *named) {
	under, lit := jen.String(), func(v *enumValue) jen.Code { return jen.Lit(v.text) }
	if t.form == formIntEnum {
		under, lit = jen.Int64(), func(v *enumValue) jen.Code { return jen.Op(string(json.Number(v.text))) }
	}
	g.Type().Id(t.goName).Add(under)
	g.Line()
	g.Comment("// Values of [" + t.goName + "].")
	g.Const().DefsFunc(func(g *jen.Group) {
		for _, v := range t.values {
			comment(g, []string{v.doc}, fieldWidth)
			g.Id(v.goName).Id(t.goName).Op("=").Add(lit(v))
		}
	})
	g.Line()
	g.Comment("// Values gives all values in the schema's order.")
	g.Func().Params(jen.Id(t.goName)).Id("Values").Params().Index().Id(t.goName).
		Block(jen.Return(jen.Index().Id(t.goName).CustomFunc(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, func(g *jen.Group) {
			for _, v := range t.values {
				g.Id(v.goName)
			}
		})))
	g.Line()
	g.Comment("// Valid reports whether v is one of the values. Results of a newer server may hold others.")
	g.Func().Params(jen.Id("v").Id(t.goName)).Id("Valid").Params().Bool().
		Block(
			jen.Switch(jen.Id("v")).Block(jen.CaseFunc(func(g *jen.Group) {
				for _, v := range t.values {
					g.Id(v.goName)
				}
			}).Block(jen.Return(jen.True()))),
			jen.Return(jen.False()),
		)
}
