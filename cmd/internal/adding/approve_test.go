package adding_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestApprove writes what was approved, and only in place of what was shown with it.
func TestApprove(t *testing.T) {
	t.Parallel()
	const before = `{"mcpServers":{"x":{"command":"old"}}}`
	declined := errors.New("declined")
	for _, tt := range []struct {
		name, alias string
		replace     bool
		meanwhile   string // is written while somebody is asked
		answer      error
		want        string // in the file, or
		fails       string
	}{
		{name: "a new entry", alias: "y", want: `"y"`},
		{name: "in place of another", alias: "x", replace: true, want: "example.com"},
		{name: "declined", alias: "y", answer: declined, fails: "declined"},
		{name: "another one has come", alias: "y", replace: true, meanwhile: `{"mcpServers":{"y":{"command":"theirs"}}}`, fails: "has changed in servers.json"},
		{name: "the other has changed", alias: "x", replace: true, meanwhile: `{"mcpServers":{"x":{"command":"newer"}}}`, fails: "has changed in servers.json"},
		{name: "something else has changed", alias: "y", meanwhile: `{"mcpServers":{"z":{"command":"z"}}}`, want: `"z"`},
		{name: "taken, and nobody is asked", alias: "x", fails: "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "servers.json")
			require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
			asked := 0
			a := &adding.Adder{Options: adding.Options{Replace: tt.replace, Yes: true}, Host: adding.Host{
				UI: ui.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}), ConfigPath: path,
				Asker:  func() ui.Asker { return &ui.NonInteractive{} },
				Getenv: func(string) string { return "" },
				Load:   func() (*config.File, error) { return config.Load(path) },
				Approve: func(_ context.Context, p adding.Proposal) error {
					asked++
					if (p.Before != nil) != (tt.alias == "x") || !p.ByHand || p.Plan.Alias != tt.alias {
						t.Errorf("got %+v", p)
					}
					if tt.meanwhile != "" {
						require.NoError(t, os.WriteFile(path, []byte(tt.meanwhile), 0o600))
					}
					return tt.answer
				},
			}}
			_, err := a.URL(t.Context(), tt.alias, "https://example.com/mcp")
			got, readErr := os.ReadFile(path)
			require.NoError(t, readErr)
			switch {
			case tt.fails == "" && (err != nil || !strings.Contains(string(got), tt.want) || asked != 1):
				t.Errorf("got %v, asked %d times, %s", err, asked, got)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(string(got), "example.com")):
				t.Errorf("got %v, %s", err, got)
			case tt.fails == "x" && asked > 0:
				t.Error("somebody was asked in vain")
			}
		})
	}
}
