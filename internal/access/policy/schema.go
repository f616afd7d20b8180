package policy

import (
	"bytes"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	isString kinds = 1 << iota
	isInteger
	isNumber
	isBoolean
	isArray
	isObject
	isNull
)

// kindNamed returns the type of a name, 0 for none.
func kindNamed(name string) kinds {
	switch name {
	case "string":
		return isString
	case "integer":
		return isInteger
	case "number":
		return isNumber
	case "boolean":
		return isBoolean
	case "array":
		return isArray
	case "object":
		return isObject
	case "null":
		return isNull
	}
	return 0
}

// maxSchema is how deep references and parts of schemas are followed.
const maxSchema = 16

// maxParts bounds the schemas that one is made of: those of a hostile tool refer to each
// other. With more it is not known which type a value has.
const maxParts = 64

// argSchema is what a tool's input schema says of a value. The zero value says nothing.
type argSchema struct {
	// kinds are the types that it may have, 0 for any.
	kinds kinds
	// parts are the raw schemas that say something of it; root has the definitions that
	// they refer to.
	parts [][]byte
	root  []byte

	once    sync.Once // properties
	mu      sync.Mutex
	known   map[string]*property
	element *argSchema // made by items
}

// property is a member that a schema describes.
type property struct {
	raws   [][]byte
	schema *argSchema // nil before it is asked for
}

// schemaOf reads raw schemas that all say something of a value.
func schemaOf(root []byte, raws ...[]byte) *argSchema {
	s := &argSchema{root: root}
	known := true
	for _, raw := range raws {
		k := s.add(raw, 0)
		known = known && k != 0
		s.kinds |= k
	}
	if !known || len(s.parts) == maxParts {
		s.kinds = 0
	}
	return s
}

// add adds a raw schema and what it is made of, and returns the types it names.
func (s *argSchema) add(raw []byte, depth int) kinds {
	if depth > maxSchema || len(s.parts) == maxParts || !rawjson.IsObject(raw) {
		return 0
	}
	s.parts = append(s.parts, raw)
	var at [7]rawjson.Span
	if rawjson.Fields(raw, at[:], "type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf") != nil {
		return 0
	}
	if k := typeNames(at[0].Of(raw)); k != 0 {
		s.follow(raw, at, depth)
		return k
	}
	k := s.follow(raw, at, depth)
	switch {
	case at[2].Present():
		return kindOf(at[2].Of(raw))
	case at[1].Present():
		all, err := rawjson.Elements(at[1].Of(raw))
		var of kinds
		for _, e := range all {
			of |= kindOf(e.Of(at[1].Of(raw)))
		}
		if err == nil {
			return of
		}
	}
	return k
}

// follow adds the schemas that a schema refers to and is made of, and returns the types
// that they name.
func (s *argSchema) follow(raw []byte, at [7]rawjson.Span, depth int) kinds {
	var out kinds
	if text, ok := rawjson.String(raw, at[3]); ok {
		out = s.add(s.resolve(text), depth+1)
	}
	for i, list := range at[4:] {
		if !list.Present() {
			continue
		}
		parts, err := rawjson.ElementsAt(raw, list)
		if err != nil {
			continue
		}
		var of kinds
		known := true
		for _, p := range parts {
			k := s.add(p.Of(raw), depth+1)
			known = known && (k != 0 || i == 0)
			of |= k
		}
		if known {
			out |= of
		}
	}
	return out
}

// resolve returns what a reference within the root leads to, nil for nothing.
func (s *argSchema) resolve(ref string) []byte {
	if ref == "#" {
		return s.root
	}
	path, ok := bytes.CutPrefix([]byte(ref), []byte("#/"))
	if !ok {
		return nil
	}
	raw := s.root
	for name := range bytes.SplitSeq(path, []byte("/")) {
		name = bytes.ReplaceAll(bytes.ReplaceAll(name, []byte("~1"), []byte("/")), []byte("~0"), []byte("~"))
		at, err := rawjson.Field(raw, string(name))
		if err != nil || !at.Present() {
			return nil
		}
		raw = at.Of(raw)
	}
	return raw
}

// typeNames returns the types of the member type, a name or a list of them.
func typeNames(raw []byte) kinds {
	if len(raw) == 0 {
		return 0
	}
	if name, ok := rawjson.String(raw, rawjson.Whole(raw)); ok {
		return kindNamed(name)
	}
	var out kinds
	all, _ := rawjson.Elements(raw)
	for _, at := range all {
		name, _ := rawjson.String(raw, at)
		k := kindNamed(name)
		if k == 0 {
			return 0
		}
		out |= k
	}
	return out
}

// kindOf returns the type of a raw value.
func kindOf(raw []byte) kinds {
	switch raw[0] {
	case '"':
		return isString
	case '{':
		return isObject
	case '[':
		return isArray
	case 't', 'f':
		return isBoolean
	case 'n':
		return isNull
	}
	n, ok := parseNumber(raw)
	if _, whole := n.scaled(0); ok && whole {
		return isInteger
	}
	return isNumber
}

// property returns the schema of a member.
func (s *argSchema) property(name string) *argSchema {
	s.once.Do(s.properties)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.known[name]
	if p == nil {
		return new(argSchema)
	}
	if p.schema == nil {
		p.schema = schemaOf(s.root, p.raws...)
	}
	return p.schema
}

// properties finds all members that are described.
func (s *argSchema) properties() {
	s.known = make(map[string]*property)
	for _, raw := range s.parts {
		at, err := rawjson.Field(raw, "properties")
		if err != nil || !rawjson.IsObject(at.Of(raw)) {
			continue
		}
		all, err := rawjson.Entries(at.Of(raw))
		if err != nil {
			continue
		}
		for _, e := range all {
			if s.known[e.Name] == nil {
				s.known[e.Name] = new(property)
			}
			s.known[e.Name].raws = append(s.known[e.Name].raws, e.Value.Of(at.Of(raw)))
		}
	}
}

// items returns the schema of the elements of an array.
func (s *argSchema) items() *argSchema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.element == nil {
		var of [][]byte
		for _, raw := range s.parts {
			if at, err := rawjson.Field(raw, "items"); err == nil && at.Present() {
				of = append(of, at.Of(raw))
			}
		}
		s.element = schemaOf(s.root, of...)
	}
	return s.element
}
