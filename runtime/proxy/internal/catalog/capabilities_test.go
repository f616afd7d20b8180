package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

func declaring(capabilities, instructions string) *inventory.Inventory {
	return &inventory.Inventory{Capabilities: json.RawMessage(capabilities), Instructions: instructions}
}

func TestCapabilitiesAreJoined(t *testing.T) {
	const all = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`
	for name, c := range map[string]struct {
		a, b *inventory.Inventory
		want string
	}{
		"unknown":    {nil, nil, all},
		"one known":  {declaring(`{"tools":{}}`, ""), nil, all},
		"both known": {declaring(`{"tools":{},"resources":{"listChanged":false}}`, ""), declaring(`{"tools":{"listChanged":true},"completions":{},"x":1}`, ""), `{"tools":{"listChanged":true},"resources":{"listChanged":true},"completions":{}}`},
		"subscribe":  {declaring(`{"resources":{}}`, ""), declaring(`{"resources":{"subscribe":true}}`, ""), `{"resources":{"subscribe":true,"listChanged":true}}`},
		"extensions": {declaring(`{"extensions":{"x/y":{},"io.modelcontextprotocol/ui":{"a":1}}}`, ""), declaring(`{"logging":{}}`, ""), `{"logging":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`},
		"malformed":  {declaring(`[]`, ""), declaring(`{"tools":7}`, ""), `{}`},
	} {
		p := offering(t, inventory.Tools, Options{}, []string{"a", "b"}, map[string]*inventory.Inventory{"a": c.a, "b": c.b})
		got, err := json.Marshal(p.Capabilities(by(nil)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}

func TestInstructions(t *testing.T) {
	long := strings.Repeat("ü", maxInstructions)
	servers := []string{"a", "b", "c"}
	p := offering(t, inventory.Tools, Options{}, servers, map[string]*inventory.Inventory{"a": declaring(`{}`, "Use x first."), "b": declaring(`{}`, " \n"), "c": declaring(`{}`, long)})
	got := p.Instructions(by(nil))
	if !strings.Contains(got, "Servers: a, b, c.") || !strings.Contains(got, "\n\n# a\n\nUse x first.\n\n# c\n\nüü") || strings.Contains(got, "# b") {
		t.Errorf("got %s", got)
	}
	if len(got) > 2*maxInstructions || !utf8.ValidString(got) || !strings.HasSuffix(got, "ü […]") {
		t.Errorf("got %d bytes, ending in %q", len(got), got[len(got)-20:])
	}
	p = offering(t, inventory.Tools, Options{NoPrefix: true}, []string{"a"}, map[string]*inventory.Inventory{"a": declaring(`{}`, "Use x first.")})
	if got := p.Instructions(by(nil)); got != "Use x first." {
		t.Errorf("got %q", got)
	}
	many, cats := []string{}, map[string]*inventory.Inventory{}
	for c := 'a'; c <= 'z'; c++ {
		many = append(many, string(c))
		cats[string(c)] = declaring(`{}`, long)
	}
	p = offering(t, inventory.Tools, Options{}, many, cats)
	if got := p.Instructions(by(nil)); len(got) > maxAllInstructions {
		t.Errorf("got %d bytes", len(got))
	}
}
