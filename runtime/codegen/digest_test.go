package codegen_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ in, want string }{
		{` { "b" : 1.0, "a" : [ true , null ] } `, `{"a":[true,null],"b":1}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`"\u0041<\/\u000a\u001f\"\\é"`, "\"A</\\n\\u001f\\\"\\\\é\""},
		{`"\b\f\t\r"`, `"\b\f\t\r"`},
		{`9007199254740993`, `9007199254740993`},
		{`-0`, `0`},
		{`0.0e5`, `0`},
		{`-0.50`, `-0.5`},
		{`1e3`, `1000`},
		{`1000`, `1000`},
		{`12.30e1`, `123`},
		{`123e-2`, `1.23`},
		{`1e-7`, `1e-7`},
		{`0.0000012`, `0.0000012`},
		{`1e-6`, `0.000001`},
		{`1.5E+30`, `1.5e30`},
		{`1e20`, `100000000000000000000`},
		{`1e21`, `1e21`},
		{`1e99999999999999999999`, `1e99999999999999999999`},
	}
	for _, tt := range tests {
		got, err := codegen.Canonical([]byte(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s %v, want %s", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{``, ` `, `{`, `{} {}`, `1 x`, `nul`} {
		if got, err := codegen.Canonical([]byte(in)); err == nil {
			t.Errorf("%q: got %s, want an error", in, got)
		}
	}
}

// FuzzCanonical: the text is JSON, means what its source means, and is its own
// canonical form.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a":[1e2,-0.10,"\u2028"]}`, `123456789012345678901234567890.5e-10`, `1E+2`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := codegen.Canonical(in)
		if err != nil {
			if json.Valid(in) {
				t.Fatalf("%s: %v", in, err)
			}
			return
		}
		twice, err := codegen.Canonical(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s: %s becomes %s %v", in, once, twice, err)
		}
		var n json.Number
		if len(in) < 100 && json.Unmarshal(in, &n) == nil && n != "" {
			a, aok := rational(string(n))
			b, bok := rational(string(once))
			if aok && bok && in[0] != '"' && a.Cmp(b) != 0 {
				t.Fatalf("%s is not %s", once, in)
			}
		}
	})
}

// rational reads a number whose exponent is small enough to be written out.
func rational(s string) (*big.Rat, bool) {
	f, err := json.Number(s).Float64()
	if err != nil || f == 0 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// TestDigestTool: what belongs to which digest.
func TestDigestTool(t *testing.T) {
	base := `{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","required":["a","b"],"properties":{
		"a":{"type":["string","null"],"description":"one","enum":["x","y"]},"b":{"anyOf":[{"title":"B","type":"integer"},{"type":"string"}]},
		"description":{"type":"string"},"c":{"default":{"title":"kept","description":"kept"}}},
		"$defs":{"title":{"$comment":"c","items":[{"description":"first"}]}}},
		"annotations":{"title":"T","readOnlyHint":true}}`
	want, err := codegen.DigestTool(json.RawMessage(base))
	require.NoError(t, err)
	tests := []struct {
		name             string
		path             []any
		value            any  // nil deletes
		structure, prose bool // change
	}{
		{"title", []any{"title"}, "U", false, true},
		{"description", []any{"description"}, "U", false, true},
		{"no description", []any{"description"}, nil, false, true},
		{"annotations.title", []any{"annotations", "title"}, "U", false, true},
		{"property's description", []any{"inputSchema", "properties", "a", "description"}, "U", false, true},
		{"arm's title", []any{"inputSchema", "properties", "b", "anyOf", 0, "title"}, "U", false, true},
		{"definition's comment", []any{"inputSchema", "$defs", "title", "$comment"}, "U", false, true},
		{"tuple's description", []any{"inputSchema", "$defs", "title", "items", 0, "description"}, "U", false, true},
		{"examples", []any{"inputSchema", "properties", "a", "examples"}, []any{"x"}, false, true},
		{"a property called description", []any{"inputSchema", "properties", "description", "type"}, "integer", true, false},
		{"prose of a default is data", []any{"inputSchema", "properties", "c", "default", "title"}, "U", true, false},
		{"a definition called title", []any{"inputSchema", "$defs", "title", "type"}, "array", true, false},
		{"order of required", []any{"inputSchema", "required"}, []any{"b", "a"}, false, false},
		{"order of types", []any{"inputSchema", "properties", "a", "type"}, []any{"null", "string"}, false, false},
		{"order of enum", []any{"inputSchema", "properties", "a", "enum"}, []any{"y", "x"}, false, false},
		{"one less required", []any{"inputSchema", "required"}, []any{"a"}, true, false},
		{"one more value", []any{"inputSchema", "properties", "a", "enum"}, []any{"x", "y", "z"}, true, false},
		{"type", []any{"inputSchema", "properties", "b", "anyOf", 1, "type"}, "boolean", true, false},
		{"order of arms", []any{"inputSchema", "properties", "b", "anyOf"}, []any{map[string]any{"type": "string"}, map[string]any{"title": "B", "type": "integer"}}, true, true},
		{"output schema", []any{"outputSchema"}, map[string]any{"type": "object"}, true, false},
		{"null output schema", []any{"outputSchema"}, json.RawMessage("null"), false, false},
		{"annotation", []any{"annotations", "readOnlyHint"}, false, true, false},
		{"annotation that is null", []any{"annotations", "idempotentHint"}, json.RawMessage("null"), false, false},
		{"annotation that says nothing", []any{"annotations", "destructiveHint"}, true, false, false},
		{"annotation that says something", []any{"annotations", "destructiveHint"}, false, true, false},
		{"no open world", []any{"annotations", "openWorldHint"}, false, true, false},
		{"open world", []any{"annotations", "openWorldHint"}, true, false, false},
		{"idempotent", []any{"annotations", "idempotentHint"}, true, true, false},
		{"one more annotation", []any{"annotations", "x"}, 1, true, false},
		{"name", []any{"name"}, "u", true, false},
		{"icons", []any{"icons"}, []any{}, false, false},
		{"_meta", []any{"_meta"}, map[string]any{"a": 1}, false, false},
	}
	for _, tt := range tests {
		var v any
		require.NoError(t, json.Unmarshal([]byte(base), &v))
		set(v, tt.path, tt.value)
		raw, err := json.MarshalIndent(v, " ", "  ") // other spaces and order of members, too
		require.NoError(t, err)
		got, err := codegen.DigestTool(raw)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if changed := got.Structure != want.Structure; changed != tt.structure {
			t.Errorf("%s: structure changed: got %v, want %v", tt.name, changed, tt.structure)
		}
		if changed := got.Prose != want.Prose; changed != tt.prose {
			t.Errorf("%s: prose changed: got %v, want %v", tt.name, changed, tt.prose)
		}
	}
	for _, raw := range []string{``, `{`, `[]`, `null`} {
		if _, err := codegen.DigestTool(json.RawMessage(raw)); err == nil {
			t.Errorf("%q: no error", raw)
		}
	}
	if _, err := codegen.DigestTool(json.RawMessage(`{"name":1,"inputSchema":{"properties":[],"required":"a","dependencies":{"a":["b"],"c":true},"dependentRequired":[]}}`)); err != nil {
		t.Error("a schema that is none has digests, too:", err)
	}
}

// TestDigestToolStays: committed code and lock files hold digests.
func TestDigestToolStays(t *testing.T) {
	got, err := codegen.DigestTool(json.RawMessage(`{"name":"echo","description":"d","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}`))
	require.NoError(t, err)
	want := codegen.ToolDigests{
		Structure: codegen.Digest([]byte(`{"inputSchema":{"properties":{"message":{"type":"string"}},"required":["message"],"type":"object"},"name":"echo"}`)),
		Prose:     codegen.Digest([]byte(`{"/description":"d"}`)),
	}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := codegen.Digest(nil); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error("got", got)
	}
}

func TestWithoutProse(t *testing.T) {
	got, err := codegen.WithoutProse(json.RawMessage(`{"title":"t","properties":{"title":{"title":"x","type":"string"}}}`))
	if want := `{"properties":{"title":{"type":"string"}}}`; err != nil || string(got) != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

// set changes one place of decoded JSON.
func set(v any, path []any, value any) {
	for _, step := range path[:len(path)-1] {
		switch step := step.(type) {
		case string:
			v = v.(map[string]any)[step]
		case int:
			v = v.([]any)[step]
		}
	}
	m, last := v.(map[string]any), path[len(path)-1].(string)
	if value == nil {
		delete(m, last)
		return
	}
	m[last] = value
}
