package schema

import (
	"slices"
	"strings"
)

// normalized returns a copy of a schema in which habits of servers that the
// declared dialect does not know are put into its words, so that one sloppy
// keyword does not make a tool uncallable:
//
//   - an array of "items" and "additionalItems" (draft-07) where the dialect is
//     2020-12 becomes "prefixItems" and "items";
//   - boolean "exclusiveMinimum" and "exclusiveMaximum" (draft-04) become the
//     number beside them;
//   - "nullable": true (OpenAPI 3.0) becomes a "null" among the types, or
//     beside the schema where it has no type;
//   - members of "patternProperties" whose pattern no engine takes are dropped,
//     and with them what counts on all members being known: a value is rather
//     let through than refused wrongly;
//   - "required": true or false inside a property (draft-03), and keywords
//     whose value is null, are dropped.
//
// Draft-04 documents are left alone.
func normalized(root any) any {
	o, ok := root.(*object)
	if !ok {
		return root
	}
	dialect, _ := o.get("$schema").(string)
	switch {
	case strings.Contains(dialect, "draft-04"):
		return root
	case dialect == "", strings.Contains(dialect, "2020-12"), strings.Contains(dialect, "json-schema.org/schema"):
		return normalizer{tuples: true}.schema(root)
	}
	return normalizer{}.schema(root)
}

type normalizer struct {
	tuples bool // the dialect has prefixItems
}

func (m normalizer) schema(v any) any {
	o, ok := v.(*object)
	if !ok {
		return v
	}
	out := &object{m: map[string]any{}}
	set := func(k string, v any) {
		out.keys = append(out.keys, k)
		out.m[k] = v
	}
	if o.get("nullable") == true {
		return m.schema(o.nullable())
	}
	items, tuple := o.get("items").([]any)
	tuple = tuple && m.tuples
	named, vague := expressible(o.get("patternProperties"))
	for _, k := range o.keys {
		v := o.m[k]
		switch {
		case v == nil && k != "const" && k != "default":
		case k == "required" && isBool(v):
		case vague && (k == "additionalProperties" || k == "unevaluatedProperties"):
		case vague && k == "patternProperties":
			set(k, m.members(named))
		case (k == "exclusiveMinimum" || k == "exclusiveMaximum") && isBool(v):
			bound := o.get(map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[k])
			if v == true && bound != nil {
				set(k, bound)
			}
		case tuple && k == "items":
			if len(items) > 0 { // prefixItems must not be empty
				set("prefixItems", m.list(items))
			}
		case tuple && k == "additionalItems":
			set("items", m.schema(v))
		case slices.Contains(schemaKeywords(), k):
			if list, ok := v.([]any); ok {
				set(k, m.list(list))
			} else {
				set(k, m.schema(v))
			}
		case slices.Contains(mapKeywords(), k):
			set(k, m.members(v))
		default:
			set(k, v)
		}
	}
	return out
}

// nullable puts into the words of every dialect that a schema takes null too.
func (o *object) nullable() any {
	bare := &object{m: map[string]any{}}
	for _, k := range o.keys {
		if k != "nullable" {
			bare.keys = append(bare.keys, k)
			bare.m[k] = o.m[k]
		}
	}
	only := true // the type alone refuses null
	for _, k := range []string{"const", "enum", "not", "if", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef"} {
		only = only && o.get(k) == nil
	}
	switch t := o.get("type").(type) {
	case string:
		if only {
			bare.m["type"] = []any{t, "null"}
			return bare
		}
	case []any:
		if only {
			if !slices.Contains(t, any("null")) {
				bare.m["type"] = append(slices.Clone(t), "null")
			}
			return bare
		}
	}
	null := &object{keys: []string{"type"}, m: map[string]any{"type": "null"}}
	out := &object{m: map[string]any{}}
	// What others refer to stays where they look for it.
	for _, k := range []string{"$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"} {
		if v := bare.get(k); v != nil {
			out.keys = append(out.keys, k)
			out.m[k] = v
			delete(bare.m, k)
			bare.keys = slices.DeleteFunc(bare.keys, func(name string) bool { return name == k })
		}
	}
	out.keys = append(out.keys, "anyOf")
	out.m["anyOf"] = []any{bare, null}
	return out
}

// expressible returns the members whose names are patterns that can be matched,
// and whether there are others.
func expressible(v any) (members *object, others bool) {
	o, ok := v.(*object)
	if !ok {
		return nil, false
	}
	members = &object{m: map[string]any{}}
	for _, k := range o.keys {
		if !Checkable(k) {
			others = true
			continue
		}
		members.keys = append(members.keys, k)
		members.m[k] = o.m[k]
	}
	return members, others
}

func (m normalizer) list(list []any) any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = m.schema(v)
	}
	return out
}

func (m normalizer) members(v any) any {
	o, ok := v.(*object)
	if !ok {
		return v
	}
	out := &object{keys: o.keys, m: map[string]any{}}
	for k, v := range o.m {
		out.m[k] = m.schema(v)
	}
	return out
}

func isBool(v any) bool {
	_, ok := v.(bool)
	return ok
}

// schemaKeywords are the keywords whose value is a schema or a list of them.
func schemaKeywords() []string {
	return []string{
		"items", "additionalItems", "prefixItems", "unevaluatedItems", "contains", "additionalProperties",
		"unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "contentSchema",
	}
}

// mapKeywords are the keywords whose value maps names to schemas.
func mapKeywords() []string {
	return []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
}
