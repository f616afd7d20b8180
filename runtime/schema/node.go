package schema

import (
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// Kinds is a set of JSON types.
type Kinds uint8

// The JSON types. Number is a number with a fraction; a schema's "number" is
// Integer|Number.
const (
	Null Kinds = 1 << iota
	Boolean
	Integer
	Number
	String
	Array
	Object

	// Any is what a schema without a word on types allows.
	Any = Null | Boolean | Integer | Number | String | Array | Object
)

// Node is what a schema says of one place in a value. The zero Node says
// nothing: anything is allowed there.
type Node struct {
	s *Schema
	v any // *object, bool, or nil for a place the schema does not speak of
}

// Root is the place of the whole value.
func (s *Schema) Root() Node { return Node{s, s.root} }

// Property is one named member of an object.
type Property struct {
	Name     string
	Node     Node
	Required bool
}

// maxWalk bounds the subschemas that one question looks at; beyond it the
// answer is what is known so far.
const maxWalk = 5000

// walk visits a schema and what applies to the same place: "$ref", "allOf",
// and as alternatives "anyOf" and "oneOf". left is how many more subschemas it
// may visit, so that a cycle ends.
type walk struct {
	s    *Schema
	left int
}

func (n Node) walk() *walk { return &walk{n.s, maxWalk} }

// parts returns the schemas that all apply beside o itself, and the groups of
// which one applies.
func (w *walk) parts(o *object) (all []any, groups [][]any) {
	if ref, ok := o.get("$ref").(string); ok {
		if v, ok := w.s.resolve(ref); ok {
			all = append(all, v)
		}
	}
	if list, ok := o.get("allOf").([]any); ok {
		all = append(all, list...)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := o.get(k).([]any); ok && len(list) > 0 {
			groups = append(groups, list)
		}
	}
	return all, groups
}

// step takes one of the visits; false ends the walk.
func (w *walk) step(v any) (*object, bool) {
	o, ok := v.(*object)
	if !ok || w.left <= 0 {
		return nil, false
	}
	w.left--
	return o, true
}

// resolve follows a reference within the document: "#", "#/a/b", "#anchor".
func (s *Schema) resolve(ref string) (any, bool) {
	frag, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	if unescaped, err := url.PathUnescape(frag); err == nil {
		frag = unescaped
	}
	if frag != "" && !strings.HasPrefix(frag, "/") {
		return s.anchor(frag)
	}
	v := s.root
	if frag == "" {
		return v, true
	}
	for token := range strings.SplitSeq(frag[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch x := v.(type) {
		case *object:
			if v, ok = x.m[token]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// anchor finds a definition by its "$anchor" (or draft-07 "$id").
func (s *Schema) anchor(name string) (any, bool) {
	root, _ := s.root.(*object)
	for _, k := range []string{"$defs", "definitions"} {
		defs, _ := root.get(k).(*object)
		if defs == nil {
			continue
		}
		for _, v := range defs.m {
			if o, ok := v.(*object); ok && (o.get("$anchor") == name || o.get("$id") == "#"+name) {
				return o, true
			}
		}
	}
	return nil, false
}

// Kinds returns which types the place may have, through references and
// alternatives. It is never empty: a contradiction counts as Any.
func (n Node) Kinds() Kinds {
	if n.v == nil {
		return Any
	}
	if k := n.walk().kinds(n.v); k != 0 {
		return k
	}
	return Any
}

func (w *walk) kinds(v any) Kinds {
	if v == false {
		return 0
	}
	o, ok := w.step(v)
	if !ok {
		return Any
	}
	k := Any
	switch t := o.get("type").(type) {
	case string:
		k &= kindOfName(t)
	case []any:
		var union Kinds
		for _, x := range t {
			name, _ := x.(string)
			union |= kindOfName(name)
		}
		k &= union
	}
	if values, ok := o.get("enum").([]any); ok {
		var union Kinds
		for _, x := range values {
			union |= kindOf(x)
		}
		k &= union
	}
	if x, ok := o.m["const"]; ok {
		k &= kindOf(x)
	}
	all, groups := w.parts(o)
	for _, x := range all {
		k &= w.kinds(x)
	}
	for _, g := range groups {
		var union Kinds
		for _, x := range g {
			union |= w.kinds(x)
		}
		k &= union
	}
	return k
}

func kindOfName(name string) Kinds {
	switch name {
	case "null":
		return Null
	case "boolean":
		return Boolean
	case "integer":
		return Integer
	case "number":
		return Integer | Number
	case "string":
		return String
	case "array":
		return Array
	case "object":
		return Object
	}
	return Any
}

func kindOf(v any) Kinds {
	switch v := v.(type) {
	case nil:
		return Null
	case bool:
		return Boolean
	case json.Number:
		if _, exp := decimal(string(v)); exp >= 0 {
			return Integer
		}
		return Number
	case string:
		return String
	case []any:
		return Array
	}
	return Object
}

// kindWord is the name of a value's type; a whole number is a number, too.
func kindWord(v any) string {
	if _, ok := v.(json.Number); ok {
		return "number"
	}
	return kindOf(v).names()[0]
}

// names are the types of a set, "number" before "integer".
func (k Kinds) names() []string {
	var out []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if kind := kindOfName(name); kind&k == kind && (name != "integer" || k&Number == 0) {
			out = append(out, name)
		}
	}
	return out
}

// IsInteger reports whether a JSON number is a whole one, as JSON Schema
// counts: 1.0 and 1e3 are.
func IsInteger(number string) bool {
	if checkNumber(json.Number(number)) != nil {
		return false
	}
	r, ok := new(big.Rat).SetString(number)
	return ok && r.IsInt()
}

// Enum returns the values that are allowed at the place, decoded (numbers as
// json.Number), or nil where they are not listed.
func (n Node) Enum() []any {
	if n.v == nil {
		return nil
	}
	return n.walk().enum(n.v)
}

func (w *walk) enum(v any) []any {
	o, ok := w.step(v)
	if !ok {
		return nil
	}
	if values, ok := o.get("enum").([]any); ok {
		return values
	}
	if x, ok := o.m["const"]; ok {
		return []any{x}
	}
	all, groups := w.parts(o)
	for _, x := range all {
		if values := w.enum(x); values != nil {
			return values
		}
	}
	for _, g := range groups {
		if values := w.union(g); values != nil {
			return values
		}
	}
	return nil
}

// union is the values of alternatives that all list theirs; {"type":"null"}
// lists null.
func (w *walk) union(group []any) []any {
	var out []any
	for _, x := range group {
		values := w.enum(x)
		if o, ok := x.(*object); ok && values == nil && o.get("type") == "null" {
			values = []any{nil}
		}
		if values == nil {
			return nil
		}
		out = append(out, values...)
	}
	return out
}

// word finds a keyword at the place, through references and alternatives.
func (n Node) word(keyword string) any {
	if n.v == nil {
		return nil
	}
	return n.walk().word(n.v, keyword)
}

func (w *walk) word(v any, keyword string) any {
	o, ok := w.step(v)
	if !ok {
		return nil
	}
	if x, ok := o.m[keyword]; ok {
		return x
	}
	all, groups := w.parts(o)
	for _, g := range append([][]any{all}, groups...) {
		for _, x := range g {
			if found := w.word(x, keyword); found != nil {
				return found
			}
		}
	}
	return nil
}

// ContentEncoding is how bytes are written in a string at the place, such as
// "base64"; "" where it holds text.
func (n Node) ContentEncoding() string {
	s, _ := n.word("contentEncoding").(string)
	return strings.ToLower(s)
}

// Description is the schema's own text on the place.
func (n Node) Description() string {
	if s, _ := n.word("description").(string); s != "" {
		return s
	}
	s, _ := n.word("title").(string)
	return s
}

// Default is the JSON of the default that the schema names, "" where it names
// none. Servers apply it; a client does not.
func (n Node) Default() string {
	o, ok := n.v.(*object)
	if !ok {
		return ""
	}
	if x, ok := o.m["default"]; ok {
		return text(x)
	}
	return ""
}

// Examples returns the JSON of the values that the schema names as examples.
func (n Node) Examples() []string {
	list, _ := n.word("examples").([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = text(v)
	}
	return out
}

// Format is the schema's "format", such as "uri".
func (n Node) Format() string {
	s, _ := n.word("format").(string)
	return s
}
