package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/schema"
)

func TestKinds(t *testing.T) {
	tests := []struct {
		raw  string
		want schema.Kinds
		typ  string
	}{
		{`{}`, schema.Any, "any"},
		{`{"type":"number"}`, schema.Integer | schema.Number, "number"},
		{`{"type":"integer"}`, schema.Integer, "integer"},
		{`{"type":["string","null"]}`, schema.String | schema.Null, "string|null"},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, schema.Integer | schema.Null, "integer|null"},
		{`{"allOf":[{"type":["string","number"]},{"type":["number","null"]}]}`, schema.Integer | schema.Number, "number"},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"oneOf":[{"const":"a"},{"const":"b"}]}}}`, schema.String, `"a"|"b"`},
		{`{"$ref":"#x","$defs":{"y":{"$anchor":"x","type":"boolean"}}}`, schema.Boolean, "boolean"},
		{`{"enum":["a",1]}`, schema.String | schema.Integer, `"a"|1`},
		{`{"type":"array","items":{"type":["string","number"]}}`, schema.Array, "(string|number)[]"},
		{`{"type":"string","enum":[1]}`, schema.Any, "1"},
		{`{"$ref":"#"}`, schema.Any, "any"},
		{`true`, schema.Any, "any"},
	}
	for _, tt := range tests {
		n := parse(t, tt.raw).Root()
		if got := n.Kinds(); got != tt.want {
			t.Errorf("%s: got kinds %b, want %b", tt.raw, got, tt.want)
		}
		if got := n.Type(); got != tt.typ {
			t.Errorf("%s: got type %s, want %s", tt.raw, got, tt.typ)
		}
	}
}

func TestProperty(t *testing.T) {
	s := parse(t, `{"type":"object","allOf":[{"properties":{"c":{"type":"boolean"}}}],
		"properties":{"b":{"type":"string","default":"x"},"a":{"$ref":"#/$defs/n"}},"required":["a","c"],
		"patternProperties":{"^x-":{"type":"number"}},"$defs":{"n":{"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"string","contentEncoding":"BASE64"}}}}`)
	root := s.Root()
	var got []string
	for _, p := range root.Properties() {
		line := p.Name + ":" + p.Node.Type()
		if p.Required {
			line += "!"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"b:string", "a:null[]!", "c:boolean!"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if x, ok := root.Property("x-1"); !ok || x.Type() != "number" {
		t.Errorf("a pattern does not cover its name: %v %s", ok, x.Type())
	}
	if _, ok := root.Property("d"); ok {
		t.Error("an unlisted name is known")
	}
	a, _ := root.Property("a")
	if got := a.Item(3).ContentEncoding(); got != "base64" {
		t.Errorf("got encoding %q", got)
	}
	if b, _ := root.Property("b"); b.Default() != `"x"` {
		t.Errorf("got default %s", b.Default())
	}
}

func TestOpenObjects(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"type":"object"}`:                                              true,
		`{"type":"object","properties":{}}`:                              false,
		`{"type":"object","properties":{},"additionalProperties":{}}`:    true,
		`{"type":"object","additionalProperties":false}`:                 false,
		`{"type":"object","properties":{"b":{}}}`:                        false,
		`{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`:    true,
		`{"properties":{"b":{}},"additionalProperties":{"type":"null"}}`: true,
		``: true,
	} {
		if _, ok := parse(t, raw).Root().Property("a"); ok != want {
			t.Errorf("%s: got %v, want %v", raw, ok, want)
		}
	}
}
