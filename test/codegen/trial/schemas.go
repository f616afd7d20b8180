package trial

import (
	"encoding/json"
	"maps"
	"strconv"
)

// Schema makes a random schema of an object, such as a tool has, and its
// definitions. Odd schemas also hold what no server means: rules of other
// types, references to nothing, contradictions.
func Schema(s Source, odd bool) json.RawMessage {
	g := &schemas{Source: s, odd: odd, left: 40}
	root := g.object(3)
	if props := root["properties"].(map[string]any); len(props) == 0 {
		props["a"] = g.schema(2) // or there would be no type
	}
	defs := map[string]any{}
	for _, name := range defNames() {
		g.left = 8
		defs[name] = g.schema(2)
	}
	// One definition always contains itself, in a way that values end.
	defs["Node"] = map[string]any{
		"type":       "object",
		"properties": map[string]any{"value": g.schema(1), "children": map[string]any{"type": "array", "items": ref("Node")}, "next": ref("Node")},
	}
	root["$defs"] = defs
	if one(g, 4) {
		root["$schema"] = pick[any](g, "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#")
	}
	return text(root)
}

// Names are those that members and tools get: ordinary ones, ones that meet in
// Go, and hostile ones.
func Names() []string {
	return []string{
		"a", "b", "id", "name", "kind", "value", "items", "user_id", "user-id", "userId", "UserID", "x-a", "x-b", "type", "func", "Extra",
		"raw", "validate", "日本", "", "1st", "a/b~c", "quote\"", "line\nbreak", "-", "a,b", "été", "_", "next", "children", "string", "$x",
	}
}

func defNames() []string { return []string{"A", "b_c", "d/e f"} }

func ref(name string) map[string]any {
	// The fragment of a URI: RFC 6901, section 6.
	escaped := map[string]string{"d/e f": "d~1e%20f"}[name]
	if escaped == "" {
		escaped = name
	}
	return map[string]any{"$ref": "#/$defs/" + escaped}
}

// schemas makes schemas that get smaller with depth and end when nothing is
// left.
type schemas struct {
	Source
	odd  bool
	left int // of the schemas that may still be made
}

func (g *schemas) name() string {
	n := Names()
	if !one(g, 3) {
		n = n[:12] // mostly names that are used more than once
	}
	return n[g.IntN(len(n))]
}

func (g *schemas) list(least, most int, make func() any) []any {
	out := []any{}
	for range least + g.IntN(most-least+1) {
		out = append(out, make())
	}
	return out
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

func (g *schemas) schema(depth int) any {
	g.left--
	if depth <= 0 || g.left <= 0 {
		return g.leaf()
	}
	var s map[string]any
	switch g.IntN(16) {
	case 0, 1, 2:
		s = g.leaf()
	case 3, 4, 5:
		s = g.object(depth)
	case 6, 7:
		s = g.array(depth)
	case 8:
		s = map[string]any{pick(g, "anyOf", "oneOf"): []any{g.schema(depth - 1), map[string]any{"type": "null"}}}
	case 9:
		s = map[string]any{pick(g, "anyOf", "oneOf"): g.list(1, 3, func() any { return g.schema(depth - 1) })}
	case 10:
		s = g.union(depth)
	case 11:
		s = map[string]any{"allOf": g.list(1, 3, func() any { return g.schema(depth - 1) })}
	case 12:
		s = ref(pick(g, "A", "b_c", "d/e f", "Node"))
	case 13:
		s = g.mapping(depth)
	case 14:
		s = g.conditions(depth)
	default:
		return pick[any](g, true, map[string]any{}, map[string]any{"type": "object"}, map[string]any{"type": "array"}, map[string]any{"type": "null"}, g.oddSchema(depth))
	}
	g.decorate(s, depth)
	return s
}

// leaf is a schema without schemas in it.
func (g *schemas) leaf() map[string]any {
	switch g.IntN(10) {
	case 0, 1, 2:
		s := map[string]any{"type": "string"}
		switch g.IntN(8) {
		case 0:
			s["minLength"], s["maxLength"] = number(g.IntN(3)), number(2+g.IntN(3))
		case 1:
			s["pattern"] = pick(g, patterns()...)
		case 2:
			s["format"] = pick(g, "date-time", "date", "uri", "uuid", "byte", "email", "odd")
		case 3:
			s["contentEncoding"] = "base64"
		}
		return s
	case 3, 4:
		s := map[string]any{"type": "integer"}
		g.bounds(s, false)
		return s
	case 5:
		s := map[string]any{"type": "number"}
		g.bounds(s, true)
		return s
	case 6:
		return map[string]any{"type": "boolean"}
	case 7:
		s := map[string]any{"enum": g.list(1, 4, func() any { return pick[any](g, "a", "b", "a-b", "c d", "", "日本") })}
		if one(g, 2) {
			s["type"] = "string"
		}
		return s
	case 8:
		return map[string]any{"enum": g.list(1, 4, g.scalar)}
	default:
		if one(g, 3) {
			return map[string]any{"type": g.list(1, 3, func() any { return pick[any](g, "string", "integer", "number", "boolean", "null", "array", "object") })}
		}
		return map[string]any{"const": g.scalar()}
	}
}

func (g *schemas) scalar() any {
	return pick[any](g, "a", "b", "", number(0), number(1), number(2), json.Number("1.5"), json.Number("9007199254740993"), true, false, nil,
		[]any{}, []any{number(1)}, map[string]any{}, map[string]any{"a": number(1)})
}

func (g *schemas) bounds(s map[string]any, decimal bool) {
	switch g.IntN(7) {
	case 0:
		s["minimum"] = number(g.IntN(4))
	case 1:
		s["maximum"] = number(g.IntN(4))
	case 2:
		s["minimum"], s["maximum"] = number(g.IntN(2)), number(1+g.IntN(4))
	case 3:
		s["exclusiveMinimum"] = number(g.IntN(3))
	case 4:
		s["exclusiveMaximum"] = number(1 + g.IntN(3))
	case 5:
		s["multipleOf"] = number(1 + g.IntN(3))
		if decimal {
			s["multipleOf"] = pick(g, json.Number("0.1"), json.Number("0.5"), json.Number("0.01"), json.Number("2"))
		}
	}
}

func patterns() []string {
	return []string{"^[a-z]+$", "^x-", "[0-9]", "^a|b$", `^\d{2}`, "^.{1,3}$", "日", `\S`, ""}
}

func (g *schemas) object(depth int) map[string]any {
	props := map[string]any{}
	for range g.IntN(5) {
		props[g.name()] = g.schema(depth - 1)
	}
	s := map[string]any{"type": "object", "properties": props}
	var required []any
	for _, name := range Names() {
		if _, ok := props[name]; ok && one(g, 2) {
			required = append(required, name)
		}
	}
	if one(g, 8) {
		required = append(required, g.name())
	}
	if required = unique(required); required != nil {
		s["required"] = required
	}
	switch g.IntN(6) {
	case 3:
		s["additionalProperties"] = false
	case 4:
		s["additionalProperties"] = g.schema(depth - 1)
	case 5:
		if one(g, 2) {
			s["patternProperties"] = map[string]any{pick(g, patterns()...): g.schema(depth - 1)}
		}
	}
	return s
}

func unique(list []any) []any {
	seen := map[any]bool{}
	var out []any
	for _, v := range list {
		if !seen[v] {
			out = append(out, v)
		}
		seen[v] = true
	}
	return out
}

func (g *schemas) mapping(depth int) map[string]any {
	s := map[string]any{"type": "object", "additionalProperties": g.schema(depth - 1)}
	switch g.IntN(5) {
	case 0:
		s["propertyNames"] = map[string]any{"pattern": pick(g, patterns()...)}
	case 1:
		s["minProperties"] = number(1)
	case 2:
		s["maxProperties"] = number(2)
	case 3:
		s["patternProperties"] = map[string]any{pick(g, patterns()...): g.schema(depth - 1), "^a": g.schema(depth - 2)}
	}
	return s
}

func (g *schemas) array(depth int) map[string]any {
	s := map[string]any{"type": "array"}
	switch g.IntN(6) {
	case 0, 1, 2:
		s["items"] = g.schema(depth - 1)
	case 3:
		s["prefixItems"] = g.list(1, 3, func() any { return g.schema(depth - 1) })
		if one(g, 2) {
			s["items"] = pick(g, any(false), g.schema(depth-1))
		}
	case 4:
		s["items"] = g.list(1, 3, func() any { return g.schema(depth - 1) })
		if one(g, 2) {
			s["additionalItems"] = pick(g, any(false), g.schema(depth-1))
		}
	}
	switch g.IntN(10) {
	case 0:
		s["minItems"] = number(1 + g.IntN(2))
	case 1:
		s["maxItems"] = number(1 + g.IntN(2))
	case 2:
		s["uniqueItems"] = true
	case 3:
		s["contains"] = g.schema(depth - 2)
	}
	return s
}

// union makes arms that a member tells apart, or the members they require.
func (g *schemas) union(depth int) map[string]any {
	var arms []any
	for i := range 2 + g.IntN(2) {
		tag := string(rune('p' + i))
		arm := map[string]any{"type": "object", "properties": map[string]any{
			"kind": pick[any](g, map[string]any{"const": tag}, map[string]any{"enum": []any{tag, tag + tag}}), tag: g.schema(depth - 2),
		}, "required": []any{"kind", tag}}
		if one(g, 3) {
			delete(arm["properties"].(map[string]any), "kind")
			arm["required"] = []any{tag}
		}
		if one(g, 2) {
			arm["additionalProperties"] = false
		}
		arms = append(arms, arm)
	}
	s := map[string]any{pick(g, "oneOf", "anyOf"): arms}
	if one(g, 3) {
		s["discriminator"] = map[string]any{"propertyName": "kind"}
	}
	return s
}

// conditions are what types do not say.
func (g *schemas) conditions(depth int) map[string]any {
	s := g.object(depth - 1)
	switch g.IntN(7) {
	case 0:
		s["if"], s["then"], s["else"] = g.object(1), g.schema(depth-2), g.schema(depth-2)
	case 1:
		s["not"] = map[string]any{"required": []any{g.name()}}
	case 2:
		s["dependentRequired"] = map[string]any{g.name(): []any{g.name()}}
	case 3:
		s["dependentSchemas"] = map[string]any{g.name(): g.object(1)}
	case 4:
		s["dependencies"] = map[string]any{g.name(): []any{g.name()}}
	case 5:
		s["unevaluatedProperties"] = false
	default:
		s["anyOf"] = []any{map[string]any{"required": []any{g.name()}}, map[string]any{"required": []any{g.name()}}}
	}
	return s
}

// decorate adds what does not change the type, mostly.
func (g *schemas) decorate(s map[string]any, depth int) {
	switch g.IntN(16) {
	case 0:
		s["description"] = pick(g, "Some text.", "*/ x", "line\nline", "- a\n- b", "    code\n\n# head", "\u202e\x00")
	case 1:
		s["default"] = g.scalar()
	case 2:
		s["nullable"] = true
	case 3:
		s["title"] = pick(g, "Title", "A/B")
	case 4:
		s["deprecated"], s["examples"], s["readOnly"] = true, []any{g.scalar()}, true
	case 5:
		if g.odd {
			maps.Copy(s, g.leaf())
		}
	case 6:
		if g.odd {
			maps.Copy(s, g.array(depth-1))
		}
	case 7:
		s["anyOf"] = []any{g.leaf(), g.schema(depth - 1)}
	}
}

// oddSchema is one that no server means.
func (g *schemas) oddSchema(depth int) any {
	if !g.odd {
		return map[string]any{}
	}
	return pick[any](
		g, false, map[string]any{"not": g.leaf()}, map[string]any{"enum": []any{}}, map[string]any{"$ref": "#/$defs/none"},
		map[string]any{"$ref": "https://example.com/other.json"}, map[string]any{"$ref": "#"}, map[string]any{"type": "file"}, map[string]any{"type": []any{}},
		map[string]any{"properties": map[string]any{g.name(): g.schema(depth - 1)}}, map[string]any{"items": g.leaf()}, map[string]any{"minimum": number(1)},
		map[string]any{"anyOf": []any{}}, map[string]any{"allOf": []any{}}, map[string]any{"minLength": json.Number("1.5")}, map[string]any{"pattern": "("},
		map[string]any{"$dynamicRef": "#node"}, map[string]any{"$anchor": "spot", "type": "string"}, map[string]any{"$ref": "#spot"},
		map[string]any{"type": "array", "unevaluatedItems": false, "prefixItems": []any{g.leaf()}}, map[string]any{"multipleOf": number(0)},
		map[string]any{"required": "a"}, map[string]any{"properties": []any{}}, map[string]any{"const": nil}, map[string]any{"type": nil},
		map[string]any{"allOf": []any{map[string]any{"$ref": "#"}}}, map[string]any{"exclusiveMinimum": true, "minimum": number(1)},
		map[string]any{"$id": "https://example.com/x", "$ref": "#/$defs/A"}, map[string]any{"minimum": json.Number("1e400"), "type": "integer"},
		map[string]any{"type": "integer", "maximum": json.Number("18446744073709551615")},
	)
}
