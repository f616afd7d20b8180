package gogen

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// object is a decoded JSON object, numbers as json.Number.
type object = map[string]any

// node is one place of a schema in normal form: references followed, allOf
// merged, "or null" taken out, so that a kind can be read off it.
type node struct {
	schema object
	// ref is the pointer of the definition that the node was reached by, ""
	// for a schema written in place; refName is its last step.
	ref, refName string
	nullable     bool
	// doc and dflt come from the outermost schema that has them.
	doc    string
	dflt   any
	hasDef bool
	// values documents enum values of the oneOf/const form.
	values map[string]string
	// why is set where the schema cannot be typed.
	why string
	// any is set where the schema allows every value.
	any bool
	// notes are rules that the types do not hold.
	notes []string
}

// maxSteps bounds the work on one schema: nested allOf can multiply.
const maxSteps = 20000

// document is one whole schema, the scope of its references.
type document struct {
	root  any
	steps int
	// merging holds the references that are being merged right now, to notice
	// one that contains itself.
	merging map[string]bool
}

// normalise follows a schema down to its normal form.
func (d *document) normalise(schema any) *node {
	n := &node{}
	seen := map[string]bool{}
	for {
		if d.steps++; d.steps > maxSteps {
			n.why = "the schema is too large"
			return n
		}
		if b, ok := schema.(bool); ok {
			if n.any = b; !b {
				n.why = "the schema allows no value"
			}
			n.schema = object{}
			return n
		}
		m, ok := schema.(object)
		if !ok {
			n.why = "the schema is not an object"
			return n
		}
		n.annotate(m)
		next, again, err := d.step(n, m, seen)
		if err != nil {
			n.why = err.Error()
			n.schema = m
			return n
		}
		if !again {
			n.schema = m
			break
		}
		schema = next
	}
	n.any = !slices.ContainsFunc(keys(n.schema), func(k string) bool { return !annotations[k] })
	return n
}

// annotations are keywords that allow nothing and forbid nothing.
var annotations = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"$schema": true, "$id": true, "id": true, "$comment": true, "$defs": true, "definitions": true, "title": true, "description": true,
	"default": true, "examples": true, "example": true, "deprecated": true, "readOnly": true, "writeOnly": true, "nullable": true,
	"$anchor": true, "discriminator": true, "x-mcp-header": true, "format": true, "contentEncoding": true, "contentMediaType": true,
}

func (n *node) annotate(m object) {
	if n.doc == "" {
		n.doc, _ = m["description"].(string)
	}
	if n.doc == "" && m["$ref"] == nil {
		// A title alone is better than nothing; behind a reference it is the
		// definition's name once more.
		n.doc, _ = m["title"].(string)
	}
	if v, ok := m["default"]; ok && !n.hasDef {
		n.dflt, n.hasDef = v, true
	}
}

// step takes one construct out of the schema and gives what is left.
func (d *document) step(n *node, m object, seen map[string]bool) (next any, again bool, err error) {
	if ref, ok := m["$ref"].(string); ok {
		target, name, err := d.resolve(ref)
		if err != nil {
			return nil, false, err
		}
		if seen[ref] {
			return nil, false, fmt.Errorf("the reference %s leads back to itself", ref)
		}
		seen[ref] = true
		rest := without(m, "$ref")
		if structural(rest) {
			merged, err := d.merge(rest, target)
			return merged, true, err
		}
		if m["nullable"] == true {
			n.nullable = true
		}
		n.ref, n.refName = ref, name
		return target, true, nil
	}
	if m["$dynamicRef"] != nil || m["$recursiveRef"] != nil {
		return nil, false, fmt.Errorf("dynamic references are not followed")
	}
	if m["nullable"] == true {
		n.nullable = true
		return without(m, "nullable"), true, nil
	}
	if list, ok := m["type"].([]any); ok {
		return d.stepTypes(n, m, list)
	}
	if m["type"] == "null" {
		return nil, false, fmt.Errorf("null is the only value")
	}
	if enum, ok := m["enum"].([]any); ok && slices.Contains(enum, nil) {
		rest := slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return v == nil })
		if m["type"] == nil {
			n.nullable = true
		}
		if len(rest) == 0 {
			return nil, false, fmt.Errorf("null is the only value")
		}
		return with(m, "enum", rest), true, nil
	}
	if arms, ok := m["allOf"].([]any); ok {
		return d.stepAll(n, m, arms)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if arms, ok := m[key].([]any); ok {
			return d.stepAny(n, m, key, arms)
		}
	}
	return nil, false, nil
}

func (d *document) stepTypes(n *node, m object, list []any) (any, bool, error) {
	var types []string
	null := false
	for _, t := range list {
		s, _ := t.(string)
		if s == "null" {
			null = true
		} else if s != "" && !slices.Contains(types, s) {
			types = append(types, s)
		}
	}
	if null {
		// An enum beside it has to name null as well.
		enum, has := m["enum"].([]any)
		n.nullable = n.nullable || !has || slices.Contains(enum, nil)
	}
	slices.Sort(types)
	switch {
	case len(types) == 0:
		return nil, false, fmt.Errorf("null is the only value")
	case len(types) == 1:
		return with(m, "type", types[0]), true, nil
	case slices.Equal(types, []string{"integer", "number"}):
		return with(m, "type", "number"), true, nil
	}
	return nil, false, fmt.Errorf("one of the types %s", strings.Join(types, ", "))
}

// stepAll merges the arms of an allOf with what stands beside it. One arm
// alone, beside annotations, keeps its name.
func (d *document) stepAll(_ *node, m object, arms []any) (any, bool, error) {
	rest := without(m, "allOf")
	if len(arms) == 1 && !structural(rest) {
		return arms[0], true, nil
	}
	var merged any = rest
	for _, arm := range arms {
		var err error
		if merged, err = d.merge(merged, arm); err != nil {
			return nil, false, err
		}
	}
	return merged, true, nil
}

// stepAny takes null out of an anyOf or oneOf and then looks whether the arms
// have a common type.
func (d *document) stepAny(n *node, m object, key string, arms []any) (any, bool, error) {
	rest := without(m, key)
	var left []any
	null := false
	for _, arm := range arms {
		if isNullSchema(arm) {
			null = true
		} else {
			left = append(left, arm)
		}
	}
	if null {
		n.nullable = n.nullable || rest["type"] == nil
	}
	if len(left) == 0 {
		return nil, false, fmt.Errorf("null is the only value")
	}
	if len(left) == 1 {
		if !structural(rest) {
			return left[0], true, nil
		}
		merged, err := d.merge(rest, left[0])
		return merged, true, err
	}
	if values, docs := d.constArms(left); values != nil {
		if n.values == nil {
			n.values = docs
		}
		merged, err := d.merge(rest, object{"enum": values})
		return merged, true, err
	}
	if (rest["type"] != nil || rest["properties"] != nil) && !d.variants(rest, left) {
		// The arms narrow a type that is known already: what they add can only
		// be further members or bounds, which stay possible.
		n.notes = append(n.notes, "Which combinations are allowed ("+key+") is for the server to check.")
		return rest, true, nil
	}
	shapes := make([]string, 0, len(left))
	for _, arm := range left {
		shapes = append(shapes, d.shape(arm))
	}
	slices.Sort(shapes)
	shapes = slices.Compact(shapes)
	switch {
	case len(shapes) == 1 && slices.Contains([]string{"string", "boolean", "integer", "number"}, shapes[0]):
		return with(rest, "type", shapes[0]), true, nil
	case slices.Equal(shapes, []string{"integer", "number"}):
		return with(rest, "type", "number"), true, nil
	}
	if len(shapes) == 1 {
		return nil, false, fmt.Errorf("one of %d kinds of %s", len(left), shapes[0])
	}
	return nil, false, fmt.Errorf("one of %s", strings.Join(shapes, ", "))
}

// variants reports whether the arms describe an object of which the schema
// around them says no more than that it is one.
func (d *document) variants(rest object, arms []any) bool {
	return rest["properties"] == nil && rest["type"] == "object" && slices.ContainsFunc(arms, func(arm any) bool {
		return d.normalise(arm).schema["properties"] != nil
	})
}

// constArms reads arms that are one string constant each, as titled enums are
// written.
func (d *document) constArms(arms []any) (values []any, docs map[string]string) {
	docs = map[string]string{}
	for _, arm := range arms {
		m, ok := arm.(object)
		if !ok {
			return nil, nil
		}
		list, ok := m["enum"].([]any)
		if c, has := m["const"]; has {
			list, ok = []any{c}, true
		}
		if !ok || m["$ref"] != nil {
			return nil, nil
		}
		for _, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil, nil
			}
			if slices.Contains(values, v) {
				continue
			}
			values = append(values, v)
			for _, k := range []string{"description", "title"} {
				if text, _ := m[k].(string); text != "" && docs[s] == "" && text != s {
					docs[s] = text
				}
			}
		}
	}
	return values, docs
}

// shape is the JSON type of what an arm allows, as far as it tells.
func (d *document) shape(arm any) string {
	n := d.normalise(arm)
	if n.nullable {
		return "value or null"
	}
	if t, ok := n.schema["type"].(string); ok && n.why == "" {
		if t == "integer" && !fitsInt64(n.schema) {
			return "number"
		}
		if n.schema["enum"] != nil || n.schema["const"] != nil {
			return t + " constant"
		}
		return t
	}
	if n.schema["properties"] != nil {
		return "object"
	}
	return "value"
}

// resolve finds what a reference inside the document points to. Other
// documents are never fetched (2025-11-25, JSON Schema usage).
func (d *document) resolve(ref string) (target any, name string, err error) {
	local := ref
	if root, ok := d.root.(object); ok {
		if id, _ := root["$id"].(string); id != "" {
			local = strings.TrimPrefix(local, strings.TrimSuffix(id, "#"))
		}
	}
	fragment, ok := strings.CutPrefix(local, "#")
	if !ok {
		return nil, "", fmt.Errorf("the reference %s leads to another document", ref)
	}
	if fragment == "" {
		return d.root, "", nil
	}
	if !strings.HasPrefix(fragment, "/") {
		return nil, "", fmt.Errorf("the reference %s is an anchor", ref)
	}
	if text, err := url.PathUnescape(fragment); err == nil {
		fragment = text
	}
	at := d.root
	for step := range strings.SplitSeq(fragment[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case object:
			at, ok = v[step]
		case []any:
			var i int
			i, err = strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				at = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, "", fmt.Errorf("the reference %s leads nowhere", ref)
		}
		name = step
	}
	return at, name, nil
}

// structural reports whether a schema says anything about values.
func structural(m object) bool {
	for k := range m {
		if !annotations[k] {
			return true
		}
	}
	return false
}

func isNullSchema(s any) bool {
	m, ok := s.(object)
	if !ok {
		return false
	}
	if c, has := m["const"]; has && c == nil {
		return true
	}
	if e, ok := m["enum"].([]any); ok && len(e) == 1 && e[0] == nil {
		return true
	}
	return m["type"] == "null"
}

func with(m object, key string, v any) object {
	out := make(object, len(m)+1)
	maps.Copy(out, m)
	out[key] = v
	return out
}

func without(m object, key string) object {
	out := make(object, len(m))
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

func keys(m object) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func number(v any) (json.Number, bool) {
	n, ok := v.(json.Number)
	return n, ok
}
