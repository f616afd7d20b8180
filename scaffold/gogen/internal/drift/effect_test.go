package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/drift"
)

// TestAddEffects: an effect on Go code belongs to the change that it comes from,
// not to its neighbours.
func TestAddEffects(t *testing.T) {
	change := func(pointer, rule string) drift.Change {
		return drift.Change{Kind: drift.KindTool, Name: "t", Pointer: pointer, Rule: rule}
	}
	effect := func(pointer, text string) drift.Effect {
		return drift.Effect{Place: drift.Place{Kind: drift.KindTool, Name: "t", Pointer: pointer}, Text: text}
	}
	got := drift.AddEffects([]drift.Change{
		change("/inputSchema/properties/a", "optional-member-added"),
		change("/inputSchema/properties/b/properties/x", "optional-member-added"),
		change("/inputSchema/properties/b", "prose"),
		change("/outputSchema", "output-schema-added"),
	}, []drift.Effect{
		effect("/inputSchema/properties/b", "B"), effect("", "method"), effect("/outputSchema/properties/o", "O"), effect("/inputSchema/properties/b", "A"),
		{Place: drift.Place{Kind: drift.KindPrompt, Name: "p"}, Text: "alone"},
	})
	texts := map[string][]string{}
	for _, c := range got {
		if c.Source != (len(c.Go) > 0) || c.Source != (c.Class == drift.Source) {
			t.Errorf("%+v", c)
		}
		texts[c.Kind+c.Pointer+" "+c.Rule] = c.Go
	}
	want := map[string][]string{
		"tool/inputSchema/properties/a optional-member-added":              nil,
		"tool/inputSchema/properties/b/properties/x optional-member-added": {"A", "B"},
		"tool/inputSchema/properties/b prose":                              nil,
		"tool/outputSchema output-schema-added":                            {"O", "method"},
		"prompt go":                                                        {"alone"},
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
}
