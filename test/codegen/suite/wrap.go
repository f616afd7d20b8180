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
// taken as it is. Of others, "$defs" and "definitions" move to the object, as
// tools have them, and references to other JSON pointers of the document ("#",
// "#/properties/a") are made to lead to where the schema stands now; what
// stands inside a subschema with a "$id", names of anchors, and data ("const",
// "enum", "default", "examples") are left alone.
func (g Group) Wrap(required bool) (json.RawMessage, error) {
	dec := json.NewDecoder(strings.NewReader(string(g.Schema)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("wrap %s: %w", g.Name(), err)
	}
	whole := map[string]any{"$schema": g.Draft.Dialect(), "type": "object", "properties": map[string]any{"v": v}}
	if required {
		whole["required"] = []string{"v"}
	}
	r := relocator{g.Draft}
	r.schema(v)
	if o, ok := v.(map[string]any); ok {
		if o["$schema"] == g.Draft.Dialect() {
			delete(o, "$schema")
		}
		for _, k := range hoisted() {
			if defs, ok := o[k].(map[string]any); ok && !r.resource(o) {
				whole[k] = defs
				delete(o, k)
			}
		}
	}
	return json.Marshal(whole)
}

// hoisted are the keywords that move to the object.
func hoisted() []string { return []string{"$defs", "definitions"} }

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
			if s, ok := v.(string); ok && moves(s) {
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

// moves reports whether a reference is to a place that moves with the schema.
func moves(ref string) bool {
	for _, k := range hoisted() {
		if strings.HasPrefix(ref, "#/"+k+"/") || strings.HasPrefix(ref, "#/"+strings.Replace(k, "$", "%24", 1)+"/") {
			return false
		}
	}
	return ref == "#" || strings.HasPrefix(ref, "#/")
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

// resource reports whether a schema has an address of its own. In draft-07 one
// that is but a name is an anchor, and none counts beside a "$ref".
func (r relocator) resource(o map[string]any) bool {
	id, ok := o["$id"].(string)
	if !ok || strings.HasPrefix(id, "#") {
		return false
	}
	_, ref := o["$ref"]
	return !ref || r.draft != Draft7
}

// Refers reports whether a group's schema has a reference, or a name that one
// could lead to.
func (g Group) Refers() bool {
	text := string(g.Schema)
	return slices.ContainsFunc([]string{`"$ref"`, `"$id"`, `"$anchor"`, `"$dynamicRef"`, `"$dynamicAnchor"`}, func(k string) bool {
		return strings.Contains(text, k)
	})
}
