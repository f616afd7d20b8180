package declare

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

const (
	// maxTypes bounds the types of one tool. What comes after them is of any type, as is what
	// lies deeper than maxDepth.
	maxTypes = 2000
	maxDepth = 32
	// maxValues is how many values a type lists: one with more is that of the values.
	maxValues = 64
)

// kind is what a type is.
type kind int

const (
	unknown kind = iota // any value
	null
	boolean
	number
	integer
	text
	listOf  // elem
	mapOf   // elem, by any name
	union   // of
	literal // value
	named   // decl
)

// typ is a type.
type typ struct {
	kind  kind
	elem  *typ
	of    []*typ
	value any // string, bool, or json.Number, an integer
	decl  *decl
}

// decl is a type that has a name.
type decl struct {
	name   string
	hint   string
	fields []field
	open   bool // it may have members that are not named
	same   *typ // another type, nil for an object
}

// field is a member of an object.
type field struct {
	name     string
	doc      string // one line
	typ      *typ
	required bool
}

// builder makes the types of one tool.
type builder struct {
	names *scope
	decls []*decl
	of    map[schema.Node]*decl // those that are being made, and those that have a name
	left  int                   // how many may still be made
	depth int
}

// typeOf returns the type of a place, nil for one that is among direct: places of which it is
// an alternative. Hint is the name for it, if it needs one.
func (b *builder) typeOf(n schema.Node, hint string, direct []schema.Node) *typ {
	n = target(n)
	if slices.Contains(direct, n) {
		return nil
	}
	if d := b.of[n]; d != nil {
		b.name(d)
		return &typ{kind: named, decl: d}
	}
	if b.left--; b.left < 0 || b.depth > maxDepth {
		return &typ{}
	}
	b.depth++
	d := &decl{hint: hint}
	b.of[n] = d
	t := b.shape(n, d, append(slices.Clip(direct), n))
	b.depth--
	switch {
	case t.kind == named && t.decl == d:
	case d.name != "": // it is inside itself
		d.same = t
		return &typ{kind: named, decl: d}
	default:
		delete(b.of, n)
	}
	return t
}

// target follows references, and unions of one.
func target(n schema.Node) schema.Node {
	const most = 64 // they may go round in circles
	for range most {
		of := n.Alternatives()
		if len(of) != 1 {
			return n
		}
		n = of[0]
	}
	return schema.Node{}
}

// name makes sure that a type has a name.
func (b *builder) name(d *decl) {
	if d.name == "" {
		d.name = b.names.unique(d.hint)
		b.decls = append(b.decls, d)
	}
}

func (b *builder) shape(n schema.Node, d *decl, direct []schema.Node) *typ {
	if values := literals(n.Enum()); values != nil {
		return unionOf(values)
	}
	var of []*typ
	if alternatives := n.Alternatives(); alternatives != nil {
		for i, a := range alternatives {
			if t := b.typeOf(a, d.hint+strconv.Itoa(i+1), direct); t != nil {
				of = append(of, t)
			}
		}
		return unionOf(of)
	}
	kinds := n.Kinds()
	if kinds == schema.Any {
		_, open := n.Rest()
		switch {
		case open || len(n.Properties()) > 0:
			kinds = schema.Object
		case n.Item(0) != n.Item(-1): // of which a schema says nothing
			kinds = schema.Array
		default:
			return &typ{}
		}
	}
	for _, k := range []struct {
		kinds schema.Kinds
		as    kind
	}{{schema.String, text}, {schema.Number, number}, {schema.Integer, integer}, {schema.Boolean, boolean}, {schema.Array, listOf}, {schema.Object, mapOf}, {schema.Null, null}} {
		switch {
		case kinds&k.kinds == 0, k.as == integer && kinds&schema.Number != 0:
		case k.as == listOf:
			of = append(of, &typ{kind: listOf, elem: b.items(n, d.hint)})
		case k.as == mapOf && kinds == schema.Object:
			return b.object(n, d)
		case k.as == mapOf: // d is the union
			of = append(of, b.object(n, &decl{hint: d.hint + "Object"}))
		default:
			of = append(of, &typ{kind: k.as})
		}
	}
	return unionOf(of)
}

// items returns the type of an array's elements: of the first ones together, where they differ.
func (b *builder) items(n schema.Node, hint string) *typ {
	const first = 4
	var of []*typ
	var seen []schema.Node
	for i := range first {
		item := n.Item(i)
		if i > 0 && (item == n.Item(-1) || slices.Contains(seen, item)) {
			continue
		}
		seen = append(seen, item)
		name := hint + "Item"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		of = append(of, b.typeOf(item, name, nil))
	}
	return unionOf(of)
}

func (b *builder) object(n schema.Node, d *decl) *typ {
	properties := n.Properties()
	rest, open := n.Rest()
	if len(properties) == 0 {
		return &typ{kind: mapOf, elem: b.typeOf(rest, d.hint+"Value", nil)}
	}
	b.name(d)
	d.open = open
	for _, p := range properties {
		at := p.Node
		if all, ok := n.Property(p.Name); ok {
			at = all // in all alternatives
		}
		d.fields = append(d.fields, field{p.Name, plain.Line(p.Node.Description()), b.typeOf(at, d.hint+pascal(p.Name), nil), p.Required})
	}
	return &typ{kind: named, decl: d}
}

// unionOf returns the type of values that are of one of several types.
func unionOf(of []*typ) *typ {
	var flat []*typ
	for _, t := range of {
		if t.kind == unknown {
			return t
		}
		if t.kind == union {
			flat = append(flat, t.of...)
		} else {
			flat = append(flat, t)
		}
	}
	switch len(flat) {
	case 0:
		return &typ{}
	case 1:
		return flat[0]
	}
	return &typ{kind: union, of: flat}
}

// literals returns the types of listed values, nil where a list is too long for that or has
// values that no type is for.
func literals(values []any) (of []*typ) {
	if len(values) > maxValues {
		return nil
	}
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			of = append(of, &typ{kind: null})
		case string, bool:
			of = append(of, &typ{kind: literal, value: v})
		case json.Number:
			if i, err := strconv.ParseInt(string(v), 10, 64); err != nil || i > 1<<53 || i < -1<<53 {
				of = append(of, &typ{kind: number})
			} else {
				of = append(of, &typ{kind: literal, value: json.Number(strconv.FormatInt(i, 10))})
			}
		default:
			return nil
		}
	}
	return of
}
