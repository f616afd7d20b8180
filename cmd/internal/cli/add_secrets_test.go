package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/scaffold"
)

// TestAddOffersPlaceholders: at a terminal a secret, and $NAME, become placeholders
// where the user says yes.
func TestAddOffersPlaceholders(t *testing.T) {
	given := []scaffold.InputValue{{Name: "API_KEY", Value: "hunter2"}, {Name: "LOG", Value: "info"}, {Name: "HOME_DIR", Value: "$HOME/x"}}
	for name, c := range map[string]struct {
		yes   bool
		env   []string
		asked int
	}{
		"yes": {true, []string{`"API_KEY": "${API_KEY}"`, `"LOG": "info"`, `"HOME_DIR": "${HOME}/x"`}, 2},
		"no":  {false, []string{`"API_KEY": "hunter2"`, `"LOG": "info"`, `"HOME_DIR": "$HOME/x"`}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, `{"mcpServers":{}}`)
			var out, errOut bytes.Buffer
			a := s.app(&out, &errOut)
			a.settings = settings.Settings{ConfigPath: s.file}
			script := &ui.Scripted{Answers: []any{c.yes, c.yes}}
			a.asker = script
			add := &addCommand{app: a, target: userFile(t, a), o: adding.Options{Env: slices.Clone(given)}}
			err := add.byHand(t.Context(), newAdd(a).Flags(), func(c *adding.Adder) (string, error) {
				return c.Command(t.Context(), "tool", []string{"fake-mcp"})
			})
			if err != nil || len(script.Asked) != c.asked || strings.Contains(errOut.String()+strings.Join(script.Asked, ""), "hunter2") {
				t.Errorf("got %v, asked %q\n%s", err, script.Asked, errOut.String())
			}
			for _, want := range c.env {
				if !strings.Contains(s.servers(t), want) {
					t.Errorf("no %s in %s", want, s.servers(t))
				}
			}
		})
	}
}

// TestAddRecordOffersPlaceholders: the same with a record of the registry.
func TestAddRecordOffersPlaceholders(t *testing.T) {
	s := newShop(t, `{"mcpServers":{}}`)
	env := givenFlag{{Name: "THING_REGION", Value: "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}
	asked, _, err := s.ask(t, adding.Options{Env: env}, "thing", true, true)
	if err != nil || !strings.Contains(s.servers(t), `"THING_REGION": "${THING_REGION}"`) || strings.Contains(s.servers(t), "ghp_") {
		t.Errorf("got %v, asked %q\n%s", err, asked, s.servers(t))
	}
}
