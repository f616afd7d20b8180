package build

import (
	"maps"
	"slices"
	"strconv"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
)

// text returns the schema as it is embedded and checked, without what a
// validator would not compile. A reference that leads nowhere, to another
// document or back to itself cannot be checked, nor can a type that does not
// exist; an unknown dialect is read as 2020-12.
func (d *document) text() string {
	drop := map[string][]string{}
	for pointer, s := range d.schemas {
		switch {
		case s.ref != "" && !jsonschema.IsMetaschema(s.ref) && !d.resolves(s):
			drop[pointer] = append(drop[pointer], "$ref")
		case s.fault == faultNotObject:
			drop[pointer] = []string{""}
		case s.fault != "":
			drop[pointer] = append(drop[pointer], "type")
		}
		if s.dynamic != "" {
			probe := &schema{base: s.base, ref: s.dynamic}
			if _, err := d.resolve(probe); err != nil {
				drop[pointer] = append(drop[pointer], "$dynamicRef", "$recursiveRef")
			}
		}
	}
	if len(drop) == 0 && d.Dialect == "" {
		return jsonschema.Text(d.Root)
	}
	v := d.without(d.Root, "", drop)
	if m, ok := v.(jsonschema.Object); ok && d.Dialect != "" {
		m = maps.Clone(m)
		delete(m, "$schema")
		v = m
	}
	return jsonschema.Text(v)
}

// resolves reports whether a reference arrives at a schema with other keywords.
func (d *document) resolves(s *schema) bool {
	seen := map[*schema]bool{}
	for s.ref != "" {
		if seen[s] {
			return false
		}
		seen[s] = true
		target, err := d.resolve(s)
		if err != nil {
			return jsonschema.IsMetaschema(s.ref)
		}
		s = target
	}
	return true
}

// without returns a copy of a value without some members of the schemas at some
// pointers; "" stands for all of a schema. In draft-07 a reference hides the
// keywords beside it, which must stay hidden.
func (d *document) without(v any, pointer string, drop map[string][]string) any {
	gone := drop[pointer]
	if slices.Contains(gone, "") {
		return true
	}
	switch v := v.(type) {
	case jsonschema.Object:
		hidden := d.Legacy && slices.Contains(gone, "$ref")
		out := make(jsonschema.Object, len(v))
		for k, inner := range v {
			if slices.Contains(gone, k) || hidden && k != "definitions" && k != "$defs" {
				continue
			}
			out[k] = d.without(inner, runtimeschema.Pointer(pointer, k), drop)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = d.without(inner, pointer+"/"+strconv.Itoa(i), drop)
		}
		return out
	}
	return v
}
