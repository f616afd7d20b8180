package locking_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/locking"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// program returns the commands for a configuration with one server over HTTP, which has
// one tool of this description.
func program(t *testing.T, path, description string) (*locking.Command, *bytes.Buffer) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": "read", "description": description, "inputSchema": map[string]string{"type": "object"}})
	require.NoError(t, err)
	server := httptest.NewServer((&runtimetest.Server{Tools: []runtimetest.Tool{{Definition: raw}}}).Handler(runtimetest.HTTPOptions{}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	var out bytes.Buffer
	return &locking.Command{
		UI: &ui.UI{Out: &out, Err: &out, In: strings.NewReader(""), Text: true}, Packages: &packages.Tools{},
		Kind: func(error) string { return "connect" }, Hint: func(error) string { return "" },
		Keep: func(config.Entry, string, []json.RawMessage) {},
		Load: func() (*config.File, error) { return config.Load(path) },
		Dial: func(config.Entry) dial.Options { // the address is another each time, the entry is not
			return dial.Options{Lookup: func(string) (string, bool) { return server.URL, true }}
		},
	}, &out
}

// TestApproveAsks: nothing is approved without a yes, and what is written is what was
// shown.
func TestApproveAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers":{"a":{"url":"${ADDRESS}"}}}`), 0o600))
	before, _ := program(t, path, "Reads a file.")
	require.NoError(t, before.Lock(t.Context(), nil))
	text := func() string {
		raw, err := os.ReadFile(lockfile.Path(path))
		require.NoError(t, err)
		return string(raw)
	}
	locked := text()
	for _, answer := range []any{"leave it", ui.ErrNoAnswer, os.ErrClosed} {
		p, out := program(t, path, "Sends\u200b a file.")
		p.Asker = &ui.Scripted{Answers: []any{answer}}
		err := p.Approve(t.Context(), "a", false)
		if err == nil || text() != locked {
			t.Errorf("%v: approved, or no error: %v", answer, err)
		}
		if !strings.Contains(out.String(), "+ Sends<U+200B zero width space> a file.") {
			t.Errorf("the change is not shown:\n%s", out)
		}
	}
	p, _ := program(t, path, "Sends a file.")
	p.Asker = &ui.Scripted{Answers: []any{"approve"}}
	require.NoError(t, p.Approve(t.Context(), "a/read", false))
	if !strings.Contains(text(), `"description": "Sends a file."`) {
		t.Errorf("it is not in the file:\n%s", text())
	}
	again, _ := program(t, path, "Sends a file.")
	require.NoError(t, again.Verify(t.Context(), nil, false))
}
