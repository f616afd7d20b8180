package schema

import (
	"slices"
	"strings"
)

// either makes one place of several alternatives.
func (n Node) either(schemas []any) Node {
	switch len(schemas) {
	case 0:
		return Node{s: n.s}
	case 1:
		return Node{n.s, schemas[0]}
	}
	return Node{n.s, &object{keys: []string{"anyOf"}, m: map[string]any{"anyOf": schemas}}}
}

// members is what a schema says of one member's name.
type members struct {
	named, open []any
	closed      bool // the schema lists names or closes the object
}

// Property returns the place of a member. It is not ok where the schema lists
// properties or forbids others, and neither its properties, its patterns nor
// an explicit additionalProperties cover the name. (JSON Schema allows other
// members unless additionalProperties is false. Whoever lists names and says
// nothing of others hardly means that a misspelt one should pass.)
func (n Node) Property(name string) (Node, bool) {
	if n.v == nil {
		return Node{s: n.s}, true
	}
	var m members
	n.walk().member(n.v, name, &m)
	switch {
	case len(m.named) > 0:
		return n.either(m.named), true
	case len(m.open) > 0:
		return n.either(m.open), true
	}
	return Node{s: n.s}, !m.closed
}

// unnamed is the name of a member that no schema names.
const unnamed = "\x00"

// Rest returns the place of members that the schema does not name. It is not ok where the
// schema says nothing of them, or forbids them.
func (n Node) Rest() (Node, bool) {
	var m members
	if n.v != nil {
		n.walk().member(n.v, unnamed, &m)
	}
	return n.either(m.open), len(m.open) > 0
}

func (w *walk) member(v any, name string, m *members) {
	o, ok := w.step(v)
	if !ok {
		return
	}
	if props, ok := o.get("properties").(*object); ok {
		m.closed = true
		if p, ok := props.m[name]; ok {
			m.named = append(m.named, p)
		}
	}
	if patterns, ok := o.get("patternProperties").(*object); ok {
		m.closed = true
		for _, p := range patterns.keys {
			if name == unnamed || compilePattern(p).MatchString(name) {
				m.open = append(m.open, patterns.m[p])
			}
		}
	}
	for _, k := range []string{"additionalProperties", "unevaluatedProperties"} {
		switch x := o.get(k).(type) {
		case bool:
			if x {
				m.open = append(m.open, true)
			} else {
				m.closed = true
			}
		case *object:
			m.open = append(m.open, x)
		}
	}
	all, groups := w.parts(o)
	for _, g := range append([][]any{all}, groups...) {
		for _, x := range g {
			w.member(x, name, m)
		}
	}
}

// Properties lists the members that the schema names, in its order.
func (n Node) Properties() []Property {
	var out []Property
	if n.v != nil {
		n.walk().properties(n, n.v, &out, true)
	}
	return out
}

func (w *walk) properties(n Node, v any, out *[]Property, certain bool) {
	o, ok := w.step(v)
	if !ok {
		return
	}
	add := func(name string, node Node, required bool) {
		i := slices.IndexFunc(*out, func(p Property) bool { return p.Name == name })
		if i < 0 {
			*out = append(*out, Property{Name: name, Node: node, Required: required})
			return
		}
		(*out)[i].Required = (*out)[i].Required || required
		if node.v != nil && (*out)[i].Node.v == nil {
			(*out)[i].Node = node
		}
	}
	required, _ := o.get("required").([]any)
	if props, ok := o.get("properties").(*object); ok {
		for _, name := range props.keys {
			add(name, Node{n.s, props.m[name]}, certain && slices.Contains(required, any(name)))
		}
	}
	for _, r := range required {
		if name, ok := r.(string); ok && certain {
			add(name, Node{s: n.s}, true)
		}
	}
	all, groups := w.parts(o)
	for _, x := range all {
		w.properties(n, x, out, certain)
	}
	for _, g := range groups {
		for _, x := range g {
			w.properties(n, x, out, certain && len(g) == 1)
		}
	}
}

// Item returns the place of an array's element, by its index.
func (n Node) Item(i int) Node {
	if n.v == nil || i < 0 {
		return Node{s: n.s}
	}
	var found []any
	n.walk().item(n.v, i, &found)
	return n.either(found)
}

func (w *walk) item(v any, i int, found *[]any) {
	o, ok := w.step(v)
	if !ok {
		return
	}
	tuple, isTuple := o.get("prefixItems").([]any)
	rest := o.get("items")
	if list, ok := rest.([]any); ok {
		tuple, isTuple, rest = list, true, o.get("additionalItems")
	}
	switch {
	case isTuple && i < len(tuple):
		*found = append(*found, tuple[i])
	case rest != nil && rest != false: // there is none
		*found = append(*found, rest)
	}
	all, groups := w.parts(o)
	for _, g := range append([][]any{all}, groups...) {
		for _, x := range g {
			w.item(x, i, found)
		}
	}
}

// MostValues is how many values of an enumeration [Node.Type] shows.
const MostValues = 8

// Type is the place's type in a few words, for people: string, number[],
// "a"|"b", string|null, object.
func (n Node) Type() string { return n.typeWords(4) }

func (n Node) typeWords(depth int) string {
	if values := n.Enum(); len(values) > 0 {
		words := make([]string, 0, MostValues+1)
		for _, v := range values {
			if len(words) == MostValues {
				words = append(words, "…")
				break
			}
			words = append(words, text(v))
		}
		return strings.Join(words, "|")
	}
	k := n.Kinds()
	if k == Any {
		return "any"
	}
	var words []string
	for _, x := range []struct {
		kind Kinds
		word string
	}{{String, "string"}, {Number, "number"}, {Integer, "integer"}, {Boolean, "boolean"}, {Array, "array"}, {Object, "object"}, {Null, "null"}} {
		switch {
		case k&x.kind == 0, x.kind == Integer && k&Number != 0:
		case x.kind == Array && depth > 0:
			item := n.Item(0).typeWords(depth - 1)
			if strings.Contains(item, "|") {
				item = "(" + item + ")"
			}
			words = append(words, item+"[]")
		default:
			words = append(words, x.word)
		}
	}
	return strings.Join(words, "|")
}

// Text writes a decoded value, such as one of [Node.Enum], as JSON.
func Text(v any) string { return text(v) }

// Plain is the place's type by its kinds alone, without listing values.
func (n Node) Plain() string {
	return Node{n.s, &object{keys: []string{"type"}, m: map[string]any{"type": n.kindNames()}}}.Type()
}

func (n Node) kindNames() []any {
	k := n.Kinds()
	var out []any
	for _, name := range []string{"string", "number", "integer", "boolean", "array", "object", "null"} {
		kind := kindOfName(name)
		if name == "number" && k&Number == 0 {
			continue
		}
		if k&kind != 0 {
			out = append(out, name)
		}
	}
	return out
}

// typing are keywords that say of which type a value is.
var typing = []string{ //nolint:gochecknoglobals // constant
	"type", "enum", "const", "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "required", "items", "prefixItems",
}

// Alternatives returns the places of which one applies, where that is all that the schema says
// of types, else nil. It is one place for a reference, or an "allOf" of one schema. Places of
// the same schema are equal, which is how one that is inside itself is found.
func (n Node) Alternatives() (of []Node) {
	o, ok := n.v.(*object)
	if !ok || slices.ContainsFunc(o.keys, func(keyword string) bool { return slices.Contains(typing, keyword) }) {
		return nil
	}
	all, groups := n.walk().parts(o)
	if len(all) > 0 {
		groups = append(groups, all)
	}
	if len(groups) != 1 || len(all) > 1 {
		return nil
	}
	for _, v := range groups[0] {
		of = append(of, Node{n.s, v})
	}
	return of
}
