package trial

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Instances makes n values for a schema: some as the schema wants them, most
// with something changed. Which of them are valid is for a validator to say.
// Numbers are such that a float64 holds them.
func Instances(s Source, schema json.RawMessage, n int) []json.RawMessage {
	d := json.NewDecoder(strings.NewReader(string(schema)))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		return nil
	}
	g := &instances{Source: s, root: root}
	out := make([]json.RawMessage, 0, n)
	for i := range n {
		g.left = 60
		v := g.value(root, 6)
		for range i % 3 {
			v = g.change(v)
		}
		out = append(out, text(v))
	}
	return out
}

type instances struct {
	Source
	root any
	left int
}

// value aims at a value that the schema takes.
func (g *instances) value(schema any, depth int) any {
	g.left--
	s, ok := schema.(map[string]any)
	if !ok || g.left < 0 || depth < 0 {
		return g.any()
	}
	if r, ok := s["$ref"].(string); ok {
		return g.value(g.resolve(r), depth-1)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if e, ok := s["enum"].([]any); ok && len(e) > 0 {
		return e[g.IntN(len(e))]
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if arms, ok := s[k].([]any); ok && len(arms) > 0 {
			return g.value(merge(s, k, arms[g.IntN(len(arms))]), depth-1)
		}
	}
	if parts, ok := s["allOf"].([]any); ok && len(parts) > 0 {
		all := any(s)
		for _, p := range parts {
			if m, ok := p.(map[string]any); ok {
				if r, ok := m["$ref"].(string); ok {
					p = g.resolve(r)
				}
			}
			all = merge(all.(map[string]any), "allOf", p)
		}
		return g.value(all, depth-1)
	}
	if s["nullable"] == true && one(g, 3) {
		return nil
	}
	switch g.kind(s) {
	case "null":
		return nil
	case "boolean":
		return one(g, 2)
	case "integer":
		return g.number(s, true)
	case "number":
		return g.number(s, false)
	case "string":
		return g.string(s)
	case "array":
		return g.array(s, depth)
	case "object":
		return g.object(s, depth)
	}
	return g.any()
}

func (g *instances) kind(s map[string]any) any {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			return t[g.IntN(len(t))]
		}
	}
	for _, k := range []string{"properties", "required", "additionalProperties", "patternProperties"} {
		if s[k] != nil {
			return "object"
		}
	}
	for _, k := range []string{"items", "prefixItems"} {
		if s[k] != nil {
			return "array"
		}
	}
	return nil
}

// merge takes one arm of a keyword into the schema around it.
func merge(s map[string]any, without string, arm any) any {
	out := maps.Clone(s)
	delete(out, without)
	m, ok := arm.(map[string]any)
	if !ok {
		return out
	}
	for k, v := range m {
		a, one := out[k].(map[string]any)
		b, two := v.(map[string]any)
		la, three := out[k].([]any)
		lb, four := v.([]any)
		switch {
		case one && two && k == "properties":
			both := maps.Clone(a)
			maps.Copy(both, b)
			out[k] = both
		case three && four && k == "required":
			out[k] = slices.Concat(la, lb)
		default:
			out[k] = v
		}
	}
	return out
}

func (g *instances) resolve(r string) any {
	v := g.root
	for _, part := range strings.Split(strings.TrimPrefix(r, "#"), "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~", "%20", " ").Replace(part)
		m, ok := v.(map[string]any)
		if !ok {
			return true
		}
		v = m[part]
	}
	return v
}

func (g *instances) number(s map[string]any, whole bool) any {
	n := pick(g, 0, 1, 2, 3, 4, 6, -1, 10, 100, 3012345679)
	for _, k := range []string{"minimum", "maximum", "multipleOf"} {
		if b, ok := s[k].(json.Number); ok && !one(g, 3) {
			if i, err := strconv.Atoi(string(b)); err == nil {
				n = i
			}
		}
	}
	if b, ok := s["exclusiveMinimum"].(json.Number); ok {
		if i, err := strconv.Atoi(string(b)); err == nil {
			n = i + 1
		}
	}
	if b, ok := s["exclusiveMaximum"].(json.Number); ok {
		if i, err := strconv.Atoi(string(b)); err == nil {
			n = i - 1
		}
	}
	switch {
	case one(g, 6):
		return json.Number(strconv.Itoa(n) + ".0")
	case one(g, 8):
		return json.Number(strconv.Itoa(n) + "e0")
	case !whole && one(g, 2):
		return json.Number(strconv.Itoa(n) + pick(g, ".5", ".25", ".1", ".07", "e2", "e-1"))
	}
	return number(n)
}

func (g *instances) string(s map[string]any) string {
	if p, ok := s["pattern"].(string); ok && !one(g, 4) {
		return map[string]string{
			"^[a-z]+$": "abc", "^x-": "x-y", "[0-9]": "a1", "^a|b$": "ab", `^\d{2}`: "12x", "^.{1,3}$": "日本", "日": "日本", `\S`: "a",
		}[p]
	}
	return pick(g, "ab", "abc", "a", "", "a-b", "日本", "x-1", "12", "2024-02-29T00:00:00Z", "<&> \"\\\u2028", "😀é")
}

func (g *instances) array(s map[string]any, depth int) any {
	out := []any{}
	prefix, _ := s["prefixItems"].([]any)
	rest := s["items"]
	if list, ok := rest.([]any); ok {
		prefix, rest = list, s["additionalItems"]
	}
	for i := range g.IntN(4) {
		switch {
		case i < len(prefix):
			out = append(out, g.value(prefix[i], depth-1))
		case rest != nil && rest != false:
			out = append(out, g.value(rest, depth-1))
		case rest == nil:
			out = append(out, g.any())
		}
	}
	return out
}

func (g *instances) object(s map[string]any, depth int) any {
	out := map[string]any{}
	props, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if one(g, 2) {
			out[name] = g.value(props[name], depth-1)
		}
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			p, there := props[name]
			if !there {
				p = s["additionalProperties"]
			}
			out[name] = g.value(p, depth-1)
		}
	}
	if more := s["additionalProperties"]; more != false && one(g, 3) {
		name := pick(g, Names()...)
		if _, there := props[name]; !there {
			out[name] = g.value(more, depth-1)
		}
	}
	if p, ok := s["patternProperties"].(map[string]any); ok && one(g, 2) {
		for _, k := range slices.Sorted(maps.Keys(p)) {
			out[g.string(map[string]any{"pattern": k})] = g.value(p[k], depth-1)
		}
	}
	return out
}

// any is any small value.
func (g *instances) any() any {
	return pick[any](g, nil, true, false, number(0), number(1), number(-7), json.Number("1.5"), json.Number("1.0"), json.Number("2e1"), "", "a", "text", "日本",
		[]any{}, []any{number(1), "a", nil}, map[string]any{}, map[string]any{"a": number(1)}, map[string]any{"kind": "p", "p": true, "x": nil})
}

// change changes one thing at one place.
func (g *instances) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		out := maps.Clone(v)
		if len(keys) == 0 || one(g, 5) {
			out[pick(g, Names()...)] = g.any()
			return out
		}
		k := keys[g.IntN(len(keys))]
		switch g.IntN(6) {
		case 0:
			delete(out, k)
		case 1:
			out[k] = g.any()
		case 2:
			out[k] = nil
		default:
			out[k] = g.change(v[k])
		}
		return out
	case []any:
		out := slices.Clone(v)
		if len(v) == 0 || one(g, 4) {
			return append(out, g.any())
		}
		i := g.IntN(len(v))
		switch g.IntN(6) {
		case 0:
			return slices.Delete(out, i, i+1)
		case 1:
			out[i] = nil
		case 2:
			return append(out, out[i])
		default:
			out[i] = g.change(v[i])
		}
		return out
	case string:
		return pick[any](g, v+"x", "", strings.ToUpper(v), number(1), nil, []any{v}, map[string]any{"a": v}, "b")
	case json.Number:
		return pick[any](g, number(0), number(-1), number(5), json.Number("0.5"), json.Number("1.0"), json.Number("1e1"), string(v), nil, true, number(1000))
	case bool:
		return pick[any](g, !v, nil, "true", number(0))
	}
	return g.any()
}
