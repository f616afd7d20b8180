package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/test/require"
)

// startScreen returns what mcpctl alone prints on a terminal.
func startScreen(t *testing.T, home string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	u := ui.New(strings.NewReader(""), &out, &errOut)
	u.OutTTY = true
	a := &app{environment: environment{ui: u, log: slog.New(slog.DiscardHandler), getenv: func(name string) string {
		return map[string]string{"MCPCTL_HOME": home, "MCPCTL_COLOR": "never"}[name]
	}}}
	began := time.Now()
	if code := a.run(t.Context(), nil); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errOut)
	}
	t.Logf("it took %v", time.Since(began))
	return out.String()
}

// TestStart: mcpctl alone shows the servers, what other hosts have, and three commands. Nothing is
// started, and nothing is written.
func TestStart(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	empty := startScreen(t, filepath.Join(home, "state"))
	for _, want := range []string{"There are no servers yet in ~", "mcpctl search github", "mcpctl add NAME -- COMMAND", "mcpctl demo"} {
		if !strings.Contains(empty, want) {
			t.Errorf("%q is not in\n%s", want, empty)
		}
	}
	if strings.Contains(empty, "Not imported") {
		t.Errorf("there is nothing to import:\n%s", empty)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".cursor"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".cursor", "mcp.json"), []byte(`{"mcpServers": {
		"notes": {"command": "npx", "args": ["-y", "notes"]}, "same": {"command": "x"}, "off": {"command": "y", "disabled": true}}}`), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".kiro", "settings"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kiro", "settings", "mcp.json"), []byte(`{"mcpServers": broken`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), []byte(`{"mcpServers": {
		"fs": {"command": "x"}, "off\u001b[31m": {"command": "a"}, "gone": {"command": "sh", "args": ["-c", "touch started"], "disabled": true}}}`), 0o600))
	text := startScreen(t, home)
	for _, want := range []string{"● fs", "not asked yet: mcpctl fs", "disabled: mcpctl enable gone", "cannot be used", "Not imported: Cursor (notes)", "mcpctl import"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Count(text, "\n  mcpctl ") != 3 {
		t.Errorf("the screen is\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(home, "started")); err == nil {
		t.Error("a server was started")
	}
}
