package drift_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
)

// level, result and inner are like generated types of results.
type level string

type inner struct {
	N     int64                      `json:"n"`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

type result struct {
	A     string                     `json:"a"`
	B     *inner                     `json:"b,omitzero"`
	L     *level                     `json:"l,omitzero"`
	_     struct{}                   `name:"kind" const:"\"x\""`
	Extra map[string]json.RawMessage `json:"-" mcp:"rest,lenient"`
}

func (r *result) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, r) }

func (i *inner) UnmarshalJSON(b []byte) error { return codegen.Unmarshal(b, i) }

// TestRulesOfResults checks the table's column of results with generated types:
// they fail where a change is wire-breaking, and only there.
func TestRulesOfResults(t *testing.T) {
	for _, c := range []struct{ rule, sent string }{
		{"optional-member-added", `{"a":"x","kind":"x","more":1}`},
		{"required-member-removed", `{"kind":"x"}`},
		{"optional-member-removed", `{"a":"x","kind":"x"}`},
		{"now-optional", `{"kind":"x"}`},
		{"null-allowed", `{"a":null,"kind":"x"}`},
		{"null-allowed-optional", `{"a":"x","b":null,"kind":"x"}`},
		{"type-changed", `{"a":1,"kind":"x"}`},
		{"type-widened", `{"a":"x","b":{"n":1.5},"kind":"x"}`},
		{"type-narrowed", `{"a":"x","b":{"n":1.0},"kind":"x"}`},
		{"value-added", `{"a":"x","l":"new","kind":"x"}`},
		{"constant-changed", `{"a":"x","kind":"y"}`},
		{"members-opened", `{"a":"x","b":{"n":1,"more":null},"kind":"x"}`},
		{"rule-loosened", `{"a":"a text as long as one likes","kind":"x"}`},
	} {
		breaks := false
		for _, r := range drift.Rules() {
			if r.ID == c.rule {
				breaks = r.Output
			}
		}
		var r result
		if err := json.Unmarshal([]byte(c.sent), &r); (err != nil) != breaks {
			t.Errorf("%s: breaking is %t, but reading %s gives %v", c.rule, breaks, c.sent, err)
		}
	}
}
