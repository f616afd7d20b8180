package drift_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestCompatibleTakesAllThatWasTaken checks the table with a validator: where no
// change of arguments is wire-breaking, the new schema allows every value of the
// old.
func TestCompatibleTakesAllThatWasTaken(t *testing.T) {
	g := &grower{rand.New(rand.NewPCG(1, 2))}
	values := instances()
	compatible, breaking := 0, 0
	for range 400 {
		old := g.schema(2)
		now := g.change(old)
		a, b := text(t, old), text(t, now)
		was, err := schema.Parse(a)
		if err != nil {
			t.Fatal(err, string(a))
		}
		is, err := schema.Parse(b)
		if err != nil {
			t.Fatal(err, string(b))
		}
		changes, err := drift.Compare(input(string(a)), input(string(b)))
		require.NoError(t, err)
		if slices.ContainsFunc(changes, func(c drift.Change) bool { return c.Wire }) {
			breaking++
			continue
		}
		compatible++
		for _, v := range values {
			// A member that gets its first schema is treated as new: what callers may
			// have sent under its name does not count.
			if was.Validate(v) == nil && is.Validate(v) != nil && !gained(changes) {
				t.Fatalf("%s was allowed and is not, %v\n%s\n%s\n%+v", v, is.Validate(v), a, b, changes)
			}
		}
	}
	if compatible < 60 || breaking < 60 {
		t.Errorf("%d compatible and %d breaking changes are no test", compatible, breaking)
	}
}

func gained(changes []drift.Change) bool {
	return slices.ContainsFunc(changes, func(c drift.Change) bool { return c.Rule == "optional-member-added" || c.Rule == "alternative-added" })
}

func text(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// instances returns values of all kinds, alone and as members.
func instances() []json.RawMessage {
	small := []string{`null`, `true`, `0`, `1`, `1.5`, `7`, `""`, `"a"`, `"b"`, `"long text"`, `[]`, `["a"]`, `[1,1]`, `[null]`, `{}`, `{"a":1}`, `{"a":"a","z":1}`, `{"b":null}`}
	out := make([]json.RawMessage, 0, len(small)*len(small))
	for _, v := range small {
		out = append(out, json.RawMessage(v), json.RawMessage(`[`+v+`]`), json.RawMessage(`{"z":`+v+`}`))
		for _, w := range small[:9] {
			out = append(out, json.RawMessage(`{"a":`+v+`,"b":`+w+`}`))
		}
	}
	return out
}

type grower struct{ r *rand.Rand }

func pick[T any](g *grower, of ...T) T { return of[g.r.IntN(len(of))] }

func (g *grower) schema(depth int) any {
	if depth == 0 || g.r.IntN(5) == 0 {
		return pick[any](g, true, map[string]any{"type": "string"}, map[string]any{"type": "integer"}, map[string]any{"type": []any{"string", "null"}})
	}
	s := map[string]any{}
	switch g.r.IntN(8) {
	case 0:
		s["type"] = pick[any](g, "string", "integer", "number", "boolean", "array", "object", []any{"string", "number"}, []any{"object", "null"})
	case 1, 2, 3:
		s["type"] = "object"
		props := map[string]any{}
		for _, name := range []string{"a", "b"} {
			if g.r.IntN(3) > 0 {
				props[name] = g.schema(depth - 1)
			}
		}
		s["properties"] = props
		if g.r.IntN(2) == 0 {
			s["required"] = []any{pick(g, "a", "b")}
		}
		if g.r.IntN(3) == 0 {
			s["additionalProperties"] = pick(g, any(false), g.schema(depth-1))
		}
	case 4:
		s["enum"] = pick(g, []any{"a"}, []any{"a", "b"}, []any{"a", nil}, []any{1, 1.5}, []any{"a", 1})
	case 5:
		// The alternatives of oneOf exclude one another.
		s[pick(g, "anyOf", "oneOf")] = []any{map[string]any{"type": "string", "maxLength": pick(g, 1, 5)}, map[string]any{"type": pick(g, "number", "null", "array")}}
		if g.r.IntN(2) == 0 {
			return map[string]any{"anyOf": []any{g.schema(depth - 1), pick(g, g.schema(depth-1), any(map[string]any{"type": "null"}))}}
		}
	case 6:
		s["type"], s["items"] = "array", g.schema(depth-1)
	case 7:
		s["allOf"] = []any{g.schema(depth - 1), g.schema(depth - 1)}
	}
	g.rule(s)
	return s
}

func (g *grower) rule(s map[string]any) {
	switch g.r.IntN(9) {
	case 0:
		s["minimum"] = pick(g, 0, 1, 5)
	case 1:
		s["maxLength"] = pick(g, 0, 1, 5)
	case 2:
		s["minItems"] = pick(g, 0, 1)
	case 3:
		s["uniqueItems"] = pick(g, true, false)
	case 4:
		s["not"] = pick[any](g, map[string]any{"const": "a"}, map[string]any{"type": "null"})
	case 5:
		s["maxProperties"] = pick(g, 1, 2)
	}
}

// change returns a modified schema: slightly, mostly.
func (g *grower) change(v any) any {
	s, ok := v.(map[string]any)
	if !ok || g.r.IntN(12) == 0 {
		return g.schema(2)
	}
	out := maps.Clone(s)
	switch g.r.IntN(6) {
	case 0:
		g.rule(out)
	case 1:
		for _, k := range []string{"minimum", "maxLength", "minItems", "uniqueItems", "not", "maxProperties", "required"} {
			if g.r.IntN(2) == 0 {
				delete(out, k)
			}
		}
	case 2:
		out["description"] = "x"
	case 3:
		if w, ok := out["enum"]; ok {
			out["enum"] = append(slices.Clone(w.([]any)), "more")
		}
		delete(out, "additionalProperties")
	case 4:
		if w, ok := out["type"].(string); ok {
			if more := pick(g, "null", "string", "number"); more != w {
				out["type"] = []any{w, more}
			}
		}
	case 5:
		return map[string]any{"anyOf": []any{v, g.schema(1)}}
	}
	if p, ok := out["properties"].(map[string]any); ok && g.r.IntN(2) == 0 {
		props := map[string]any{}
		for name, w := range p {
			props[name] = w
			if g.r.IntN(2) == 0 {
				props[name] = g.change(w)
			}
		}
		out["properties"] = props
	}
	return out
}
