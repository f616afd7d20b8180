package drift

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// maxShown is how many characters of a value are shown in a line.
const maxShown = 60

// show returns a value for a reader.
func show(v any) string { return shorten(jsonschema.Canonical(v)) }

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}

// document is a whole schema, in which references are resolved.
type document struct {
	*jsonschema.Document
	known map[string]kinds // of references
}

func newDocument(root any) *document {
	return &document{jsonschema.NewDocument(root), map[string]kinds{}}
}

// escape returns a text as one step of a pointer.
func escape(s string) string { return runtimeschema.Pointer("", s)[1:] }

// find resolves a reference inside the document. The comparison does not know
// where a schema is, so every resource of the document is tried as its base, the
// root first.
func (d *document) find(ref string) (jsonschema.Place, bool) {
	for _, base := range d.Bases() {
		if p, err := d.Resolve(base, ref); err == nil {
			return p, true
		}
	}
	return jsonschema.Place{}, false
}

// node is a schema in normal form: references followed, allOf merged as far as
// it has no contradictions, "or null" removed from unions.
type node struct {
	keys map[string]any
	// kinds of the keyword type, with null where anything adds it.
	kinds kinds
	// arms of anyOf or oneOf besides null; two or more, or none.
	arms []any
	// refs are the references that were followed; ref is the pointer of the target
	// of a schema that was only a reference.
	refs []string
	ref  string
}

// maxRefs bounds chains of references; a longer one is treated as a circle.
const maxRefs = 100

// normal returns the normal form of a schema.
func (d *document) normal(schema any) *node {
	n := &node{keys: map[string]any{}, kinds: anyKind}
	if m, ok := schema.(map[string]any); ok && pureRef(m) {
		if p, ok := d.find(m["$ref"].(string)); ok {
			n.ref = p.Pointer
		}
	}
	d.mergeSchema(n, schema, 0)
	d.simplifyUnion(n)
	return n
}

// pureRef reports whether a schema is only a reference and prose.
func pureRef(m map[string]any) bool {
	if _, ok := m["$ref"].(string); !ok {
		return false
	}
	for key := range m {
		if key != "$ref" && !proseKeys[key] {
			return false
		}
	}
	return true
}

var (
	// proseKeys are for readers.
	proseKeys = map[string]bool{ //nolint:gochecknoglobals // a constant table
		"title": true, "description": true, "$comment": true, "examples": true, "example": true,
	}
	// silentKeys have no meaning of their own.
	silentKeys = map[string]bool{ //nolint:gochecknoglobals // a constant table
		"$schema": true, "$id": true, "$defs": true, "definitions": true, "$anchor": true, "$vocabulary": true, "$dynamicAnchor": true,
	}
)

// mergeSchema merges a schema into a node.
func (d *document) mergeSchema(n *node, schema any, depth int) {
	m, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			n.kinds = 0
		}
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		target, ok := d.find(ref)
		if !ok || slices.Contains(n.refs, target.Pointer) || depth >= maxRefs {
			n.mergeKeyword("$ref", ref)
		} else {
			n.refs = append(n.refs, target.Pointer)
			if !d.Legacy {
				d.members(n, m, depth)
			}
			// draft-07, section 8.3: siblings of $ref are ignored.
			d.mergeSchema(n, target.Schema, depth+1)
			return
		}
	}
	d.members(n, m, depth)
}

// members merges all keywords but $ref.
func (d *document) members(n *node, m map[string]any, depth int) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch v := m[key]; key {
		case "$ref":
		case "type":
			n.kinds &= declared(v)
		case "allOf":
			if list, ok := v.([]any); ok && depth < maxRefs {
				for _, s := range list {
					d.mergeSchema(n, s, depth+1)
				}
			}
		default:
			n.mergeKeyword(key, v)
		}
	}
	if m["nullable"] == true {
		n.kinds |= null
	}
}

// mergeKeyword adds a keyword. A second value is kept beside the first, so that
// a change of either is seen.
func (n *node) mergeKeyword(key string, v any) {
	old, both := n.keys[key]
	switch {
	case !both:
		n.keys[key] = v
		return
	case proseKeys[key], jsonschema.Equal(old, v):
		return
	}
	switch key {
	case "properties", "patternProperties":
		a, okA := old.(map[string]any)
		b, okB := v.(map[string]any)
		if okA && okB {
			out := maps.Clone(a)
			for name, s := range b {
				if first, ok := out[name]; ok && !jsonschema.Equal(first, s) {
					s = map[string]any{"allOf": []any{first, s}}
				}
				out[name] = s
			}
			n.keys[key] = out
			return
		}
	case "required":
		a, okA := old.([]any)
		b, okB := v.([]any)
		if okA && okB {
			n.keys[key] = slices.Concat(a, b)
			return
		}
	}
	for i := 2; ; i++ {
		name := key + " " + strconv.Itoa(i)
		if _, taken := n.keys[name]; !taken {
			n.keys[name] = v
			return
		}
	}
}

// simplifyUnion removes null from a union, and the union where one arm is left.
func (d *document) simplifyUnion(n *node) {
	for range maxRefs {
		key := ""
		for _, k := range []string{"anyOf", "oneOf"} {
			if _, ok := n.keys[k].([]any); ok {
				if key != "" {
					return // both: they stay as they are
				}
				key = k
			}
		}
		if key == "" {
			return
		}
		var arms []any
		nullable := false
		for _, arm := range n.keys[key].([]any) {
			if d.onlyNull(arm) {
				nullable = true
			} else {
				arms = append(arms, arm)
			}
		}
		if len(arms) > 1 && n.keys["properties"] != nil {
			return // alternatives of one object are rules rather than types
		}
		delete(n.keys, key)
		switch own := n.kinds; len(arms) {
		case 0:
			n.kinds &= null
		case 1:
			d.mergeSchema(n, arms[0], 1)
			if nullable {
				n.kinds |= own & null
			}
		default:
			n.arms = arms
			var all kinds
			for _, arm := range arms {
				all |= d.kinds(arm)
			}
			if nullable {
				all |= null
			}
			n.kinds &= all
			return
		}
	}
}

func (d *document) onlyNull(schema any) bool {
	m, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	if m["type"] == "null" {
		return true
	}
	if v, ok := m["const"]; ok && v == nil {
		return true
	}
	list, ok := m["enum"].([]any)
	return ok && len(list) == 1 && list[0] == nil
}

// kinds returns all that a schema accepts, by type, values and arms.
func (d *document) kinds(schema any) kinds {
	if m, ok := schema.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			if known, ok := d.known[ref]; ok {
				return known
			}
			// A schema that refers to itself accepts nothing more by it.
			d.known[ref] = 0
			k := d.normal(schema).all()
			d.known[ref] = k
			return k
		}
	}
	return d.normal(schema).all()
}

// all returns the node's kinds as limited by its values.
func (n *node) all() kinds {
	values, ok := n.values()
	if !ok {
		return n.kinds
	}
	return n.kinds & kindsOf(values)
}

// values returns those of enum or const; false where there are none.
func (n *node) values() ([]any, bool) {
	if v, ok := n.keys["const"]; ok {
		return []any{v}, true
	}
	list, ok := n.keys["enum"].([]any)
	return list, ok
}
