package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// typ returns the Go type of a value that is not null.
func (e *goTypes) typ(t *model.Type) *jen.Statement {
	switch t.Kind {
	case model.String:
		return jen.String()
	case model.Bool:
		return jen.Bool()
	case model.Int:
		return jen.Int64()
	case model.Float:
		return jen.Float64()
	case model.Decimal:
		return jen.Qual("encoding/json", "Number")
	case model.List:
		return jen.Index().Add(e.element(t.Elem, t.ElemNull))
	case model.Map:
		return jen.Map(jen.String()).Add(e.element(t.Elem, t.ElemNull))
	case model.Named:
		return jen.Id(t.Decl.Name)
	case model.Format:
		return e.runtime(t.Format)
	default:
		return raw()
	}
}

// element returns the type of a value inside a list or map, of a wrapper's value
// and of a defined type's underlying value.
func (e *goTypes) element(t *model.Type, null bool) *jen.Statement {
	if null && t.Kind != model.Raw {
		return jen.Op("*").Add(e.typ(t))
	}
	return e.typ(t)
}

// under returns the type that a defined type is made of.
func under(t *model.Type) *model.Type {
	for range 100 { // a type may be defined as itself
		if t.Kind != model.Named || t.Decl.Form != model.Defined || t.Decl.Under == nil || t.Decl.UnderNull {
			break
		}
		t = t.Decl.Under
	}
	return t
}

// nilable reports whether a type has a nil that stands for null or absent.
func nilable(t *model.Type) bool {
	switch under(t).Kind {
	case model.Raw, model.List, model.Map:
		return true
	default:
		return false
	}
}

// hold is the form in which a field holds its value.
type hold uint8

const (
	plain   hold = iota // the value itself
	pointer             // a pointer, nil for null or absent
	opt                 // Opt
	zero                // the value itself, nil for null or absent
)

func holds(f *model.Field) hold {
	switch {
	case f.Presence == model.OrAbsentOrNull && under(f.Type).Kind != model.Raw:
		return opt
	case f.Indirect:
		return pointer
	case f.Presence == model.Always:
		return plain
	case nilable(f.Type):
		return zero
	default:
		return pointer
	}
}

func (e *goTypes) field(f *model.Field) *jen.Statement {
	switch holds(f) {
	case opt:
		return e.runtime("Opt").Types(e.typ(f.Type))
	case pointer:
		return jen.Op("*").Add(e.typ(f.Type))
	default:
		return e.typ(f.Type)
	}
}

// plainName matches names that a json struct tag can spell readably.
var plainName = lazy.Regexp(`^[A-Za-z0-9_.$/:@+ -]+$`)

// tag returns what the codec of package codegen cannot see from the field's
// type.
func tag(f *model.Field) map[string]string {
	tag := map[string]string{"json": f.JSON}
	if !plainName().MatchString(f.JSON) || f.JSON == "-" {
		tag["json"], tag["name"] = "-", f.JSON
	}
	var mcp string
	switch {
	case f.Presence == model.OrAbsent, f.Presence == model.OrAbsentOrNull:
		if tag["name"] != "" || f.JSON == "" {
			tag["json"] = "" // linters take "-,omitzero" for a mistake
		}
		tag["json"] += ",omitzero"
	case f.Presence == model.OrNull && under(f.Type).Kind != model.Raw:
		mcp = "null"
	case f.Indirect:
		mcp = "indirect"
	}
	if mcp != "" {
		tag["mcp"] = mcp
	}
	return tag
}

func (e *declWriter) decl(g *jen.Group, d *model.Decl) {
	g.Line()
	comment(g, joined(docOf(d.Name, e.declDoc(d))), docWidth)
	switch d.Form {
	case model.StringEnum, model.IntEnum:
		e.enum(g, d)
	case model.MixedEnum:
		e.mixed(g, d)
	case model.Defined:
		e.defined(g, d)
	case model.Wrapper:
		e.wrapper(g, d)
	case model.Union:
		e.union(g, d)
	case model.Tuple:
		e.tuple(g, d)
	default:
		e.structType(g, d)
	}
	e.defaults(g, d)
	e.validate(g, d)
	if d.Top && d.Side == model.Input && e.isOption(d) {
		g.Comment("// ApplyTo makes p the arguments of the call.")
		g.Func().Params(jen.Id("p").Id(d.Name)).Id("ApplyTo").Params(jen.Id("s").Op("*").Add(e.runtime("CallSettings"))).
			Add(line(jen.Id("s").Dot("Arguments").Op("=").Id("p")))
	}
}

// isOption reports whether parameters are an option of the call.
func (e *declWriter) isOption(d *model.Decl) bool { return e.checks.options[d] }

// codec writes the methods that encode and decode v, which is d or a part of it.
func (e *declWriter) codec(g *jen.Group, d *model.Decl, v func() *jen.Statement) {
	g.Comment("// MarshalJSON encodes the members that are there.")
	g.Func().Params(jen.Id("p").Id(d.Name)).Id("MarshalJSON").Params().Params(jen.Index().Byte(), jen.Error()).
		Add(line(jen.Return(e.codegen("Marshal").Call(jen.Op("&").Add(v())))))
	e.decoder(g, d, v)
}

func (e *declWriter) decoder(g *jen.Group, d *model.Decl, v func() *jen.Statement) {
	target := jen.Id("p")
	if d.Form == model.Wrapper {
		target = jen.Op("&").Add(v())
	}
	g.Line()
	g.Comment("// UnmarshalJSON decodes and tells absent, null and zero apart.")
	g.Func().Params(jen.Id("p").Op("*").Id(d.Name)).Id("UnmarshalJSON").Params(jen.Id("b").Index().Byte()).Error().
		Add(line(jen.Return(e.codegen("Unmarshal").Call(jen.Id("b"), target))))
}

// defined writes a type made of another one. It does not inherit the other's
// methods, so those needed for decoding are written again.
func (e *declWriter) defined(g *jen.Group, d *model.Decl) {
	g.Type().Id(d.Name).Add(e.element(d.Under, d.UnderNull))
	t := under(d.Under)
	if t.Kind != model.Named || d.UnderNull {
		return
	}
	switch t.Decl.Form {
	case model.Struct, model.Tuple:
		g.Line()
		e.codec(g, d, self)
	case model.Union:
		g.Line()
		g.Comment("// Arms tells how the type of a value is found.")
		g.Func().Params(jen.Id(d.Name)).Id("Arms").Params().Index().Add(e.codegen("Arm")).Add(line(jen.Return(jen.Id(lower(t.Decl.Name) + "Arms"))))
		e.decoder(g, d, self)
	default:
	}
}

func self() *jen.Statement { return jen.Id("p") }

func (e *declWriter) wrapper(g *jen.Group, d *model.Decl) {
	g.Type().Id(d.Name).StructFunc(func(g *jen.Group) {
		comment(g, append([]string{"Value is the structured content."}, facts(d.Under, "")...), fieldWidth)
		g.Id("Value").Add(e.element(d.Under, d.UnderNull))
		e.rawResult(g)
	})
	g.Line()
	e.codec(g, d, func() *jen.Statement { return jen.Id("p").Dot("Value") })
}

func (e *declWriter) rawResult(g *jen.Group) {
	comment(g, []string{"Raw is the whole result as the server sent it."}, fieldWidth)
	g.Id("Raw").Op("*").Add(e.runtime("ToolResult")).Tag(map[string]string{"json": "-"})
}

// rest returns the type of members without a field, nil where none are allowed.
// Results keep what newer servers add even where the schema is closed.
func (e *goTypes) rest(d *model.Decl) *jen.Statement {
	switch {
	case d.Rest != nil:
		return e.element(d.Rest, d.RestNull)
	case d.Side == model.Output:
		return raw()
	default:
		return nil
	}
}

// noCompare returns the type of a field that makes == not compile and literals
// need field names: code goes on compiling when the struct gets other fields
// later. Structs with a map need none.
func noCompare() *jen.Statement { return jen.Index(jen.Lit(0)).Func().Params() }

func (e *declWriter) structType(g *jen.Group, d *model.Decl) {
	g.Type().Id(d.Name).StructFunc(func(g *jen.Group) {
		for _, f := range d.Fields {
			if f.Presence == model.Constant {
				comment(g, []string{"The member " + strconv.Quote(f.JSON) + " is always " + shorten(f.Literal, 200) + " and needs no field."}, fieldWidth)
				g.Id("_").Struct().Tag(map[string]string{"name": f.JSON, "const": f.Literal})
				continue
			}
			comment(g, fieldDoc(f, "member "+strconv.Quote(shorten(oneLine(f.JSON), 100))), fieldWidth)
			g.Id(f.Name).Add(e.field(f)).Tag(tag(f))
		}
		if rest := e.rest(d); rest != nil {
			mcp := "rest"
			if d.Side == model.Output {
				mcp = "rest,lenient"
			}
			doc := []string{"Extra holds members the schema does not name; nil is none."}
			if d.Rest != nil {
				doc = append(doc, facts(d.Rest, "")...)
			}
			comment(g, doc, fieldWidth)
			g.Id("Extra").Map(jen.String()).Add(rest).Tag(map[string]string{"json": "-", "mcp": mcp})
		} else {
			g.Id("_").Add(noCompare()).Tag(map[string]string{"mcp": "closed"})
		}
		if d.Loose {
			comment(g, []string{"Other is a value that is no object, instead of all members; nil for an object."}, fieldWidth)
			g.Id("Other").Add(raw()).Tag(map[string]string{"json": "-", "mcp": "other"})
		}
		if d.Result {
			e.rawResult(g)
		}
	})
	g.Line()
	e.codec(g, d, self)
}

func (e *declWriter) tuple(g *jen.Group, d *model.Decl) {
	g.Type().Id(d.Name).StructFunc(func(g *jen.Group) {
		g.Id("_").Add(noCompare()).Tag(map[string]string{"mcp": "tuple"})
		for _, f := range d.Fields {
			mcp := "item"
			switch f.Presence {
			case model.OrAbsent, model.OrAbsentOrNull:
				mcp = "item,optional"
			case model.OrNull:
				mcp = "item,null"
			default:
				if f.Indirect {
					mcp = "item,indirect"
				}
			}
			if f.Presence == model.Constant {
				comment(g, []string{"The item " + f.JSON + " is always " + shorten(f.Literal, 200) + " and needs no field."}, fieldWidth)
				g.Id("_").Struct().Tag(map[string]string{"mcp": "item", "const": f.Literal})
				continue
			}
			comment(g, fieldDoc(f, "item "+f.JSON), fieldWidth)
			g.Id(f.Name).Add(e.field(f)).Tag(map[string]string{"mcp": mcp})
		}
		if rest := e.rest(d); rest != nil {
			comment(g, []string{"Rest holds the items behind those; nil is none."}, fieldWidth)
			g.Id("Rest").Index().Add(rest).Tag(map[string]string{"mcp": "rest"})
		}
	})
	g.Line()
	e.codec(g, d, self)
}
