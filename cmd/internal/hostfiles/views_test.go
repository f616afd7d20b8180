package hostfiles_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/hostfiles"
	"github.com/mcpctl/mcpctl/test/require"
)

// viewStore is a config.yaml with views.
type viewStore map[string]string

func (s viewStore) Names() (names []string, err error) {
	for name := range s {
		names = append(names, name)
	}
	return names, nil
}

func (s viewStore) Set(name string, view json.RawMessage) error {
	s[name] = string(view)
	return nil
}

func (viewStore) Exposed(_ []string, server, tool string) string { return server + "__" + tool }

// TestViews: the views of a gateway have the aliases of its servers, and leave out those that are
// not imported. One that there is stays.
func TestViews(t *testing.T) {
	t.Parallel()
	p, out, notes := program(t)
	write(t, p.ConfigPath, `{"mcpServers": {"clock": {"command": "other"}, "extra": {"command": "extra"}}}`)
	file := filepath.Join(p.Place.Home, "config.json")
	write(t, file, `{"mcpServers": [
		{"name": "clock", "command": "npx", "args": ["clock"], "enabled": true},
		{"name": "boxed", "command": "npx", "args": ["boxed"], "enabled": true, "isolation": {"enabled": true}}
	], "profiles": [
		{"name": "my day", "servers": ["clock", "boxed", "extra"]},
		{"name": "box", "servers": ["boxed"]},
		{"name": "kept", "servers": ["clock"]}
	]}`)
	store := viewStore{"kept": "before"}
	im := &hostfiles.Import{Command: p, Views: store, DryRun: true}
	_ = im.Run(t.Context(), []string{file})
	if len(store) != 1 {
		t.Errorf("a dry run wrote %v", store)
	}
	out.Reset()
	notes.Reset()
	im = &hostfiles.Import{Command: p, Views: store}
	err := im.Run(t.Context(), []string{file})
	if err == nil || !strings.Contains(err.Error(), "1 server not imported") {
		t.Errorf("the error is %v", err)
	}
	if got := store["my-day"]; got != `{"tools":["clock-mcpproxy-go__*","extra__*"]}` {
		t.Errorf("the view is %s", got)
	}
	if store["kept"] != "before" || store["box"] != "" {
		t.Errorf("views are %v", store)
	}
	for _, want := range []string{"without boxed, not imported", "none of its servers is imported", "config.yaml has a view of that name"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	raw, err := os.ReadFile(p.ConfigPath)
	require.NoError(t, err)
	if !strings.Contains(string(raw), `"clock-mcpproxy-go"`) || strings.Contains(string(raw), "boxed") {
		t.Errorf("servers.json is %s", raw)
	}
}

// TestFrom: --from says whose file it is, and needs a file.
func TestFrom(t *testing.T) {
	t.Parallel()
	p, _, notes := program(t)
	file := filepath.Join(p.Place.Home, "config.json")
	write(t, file, `{"mcpServers": {"a": {"command": "a", "env": ["X=1"]}}}`)
	for from, want := range map[string]string{"1mcp": "", "dokcer": "unknown host", "docker": ""} {
		err := (&hostfiles.Import{Command: p, Views: viewStore{}, From: from}).Run(t.Context(), []string{file})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", from, err)
		}
	}
	if !strings.Contains(notes.String(), "no servers in") {
		t.Errorf("notes: %s", notes)
	}
	if err := (&hostfiles.Import{Command: p, From: "1mcp"}).Run(t.Context(), []string{"cursor"}); err == nil || !strings.Contains(err.Error(), "--from needs a file") {
		t.Errorf("the error is %v", err)
	}
	raw, err := os.ReadFile(p.ConfigPath)
	require.NoError(t, err)
	if !strings.Contains(string(raw), `"X": "1"`) {
		t.Errorf("servers.json is %s", raw)
	}
	if err := (&hostfiles.Export{Command: p}).Run(t.Context(), "1mcp", nil); err == nil || !strings.Contains(err.Error(), "nothing is written to its files") {
		t.Errorf("the error is %v", err)
	}
}
