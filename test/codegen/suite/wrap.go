package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// place is where a wrapped schema stands.
const place = "#/properties/v"

// Wrap makes a group's schema that of one member "v" of an object, as the
// arguments of a tool are declared: the dialect is declared by the object, and
// v is required or not.
//
// A schema with a "$id" of its own is a resource wherever it stands and is
// taken as it is. In others, references to a JSON pointer of the document
// ("#", "#/a/b") are made to lead to where the schema stands now; what stands
// inside a subschema with a "$id", names of anchors, and data ("const",
// "enum", "default", "examples") are left alone.
func (g Group) Wrap(required bool) (json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(string(g.Schema)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("wrap %s: %w", g.Name(), err)
	}
	if o, ok := v.(map[string]any); ok && o["$schema"] == g.Draft.Dialect() {
		delete(o, "$schema")
	}
	relocator{g.Draft}.schema(v)
	whole := map[string]any{"$schema": g.Draft.Dialect(), "type": "object", "properties": map[string]any{"v": v}}
	if required {
		whole["required"] = []string{"v"}
	}
	return json.Marshal(whole)
}

// Instance is a value as the member "v".
func Instance(data json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"v":`), data, []byte(`}`))
}

type relocator struct {
	draft Draft
}

func (r relocator) schema(v any) {
	o, ok := v.(map[string]any)
	if !ok || r.resource(o) {
		return
	}
	for k, v := range o {
		switch k {
		case "$ref", "$dynamicRef":
			if s, ok := v.(string); ok && (s == "#" || strings.HasPrefix(s, "#/")) {
				o[k] = place + s[1:]
			}
		case "const", "enum", "default", "examples":
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			if members, ok := v.(map[string]any); ok {
				for _, v := range members {
					r.schema(v)
				}
			}
		default:
			r.any(v)
		}
	}
}

func (r relocator) any(v any) {
	if list, ok := v.([]any); ok {
		for _, v := range list {
			r.schema(v)
		}
		return
	}
	r.schema(v)
}

// resource tells whether a schema has an address of its own. In draft-07 one
// that is but a name is an anchor, and none counts beside a "$ref".
func (r relocator) resource(o map[string]any) bool {
	id, ok := o["$id"].(string)
	if !ok || strings.HasPrefix(id, "#") {
		return false
	}
	_, ref := o["$ref"]
	return !ref || r.draft != Draft7
}
