//go:build integration

package peers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// kitEnv makes this test binary the command-line tool of package kit.
const kitEnv = "MCPCTL_PEERS_KIT"

// commandLine is the entry of that tool as a server, everything exposed.
func commandLine(t *testing.T) entry {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kit.exe")
	if err := os.Symlink(exe, path); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	e := process("kit", map[string]string{kitEnv: "1", "GORACE": "atexit_sleep_ms=0"}, path)
	e.object["cli"], e.object["cliOnly"] = true, []string{"*"}
	return e
}

// act is a call of the command that does what its words say.
func act(words ...string) []any { return []any{"act", map[string]any{"word": words}} }

// TestCLI has clients of other SDKs call a command-line tool, behind serve and behind
// bridge.
func TestCLI(t *testing.T) {
	t.Parallel()
	at := []struct {
		client  tourist
		gateway string
		daily   bool // not only with make nightly
	}{
		{tourist{"v1", "legacy", "stdio"}, "bridge", true},
		{tourist{"v2", "modern", "stdio"}, "serve", false},
		{tourist{"python", "modern", "stdio"}, "bridge", true},
		{tourist{"python", "legacy", "stdio"}, "serve", false},
		{tourist{"v2", "modern", "http"}, "serve", true},
		{tourist{"v1", "legacy", "http"}, "bridge", false},
		{tourist{"python", "legacy", "http"}, "serve", true},
		{tourist{"python", "modern", "http"}, "bridge", false},
		{tourist{"v2", "legacy", "sse"}, "serve", false},
		{tourist{"python", "legacy", "sse"}, "bridge", false},
	}
	for _, c := range at {
		if !c.daily && !wire.Nightly() {
			continue
		}
		t.Run(c.client.String()+" - "+c.gateway, func(t *testing.T) {
			t.Parallel()
			v := visit{
				config: configure(t, commandLine(t)), bare: c.gateway == "bridge",
				steps: []string{"echo", "structured", "fail", "unknown", "progress", "killed"},
				calls: map[string][]any{
					"echo": act("say=grüße\u2028"), "add": act(`json={"n":42}`), "steps": act("many=1", "pause=300ms"), // the SDKs drop progress that they read together with the answer
					"fail": act("say=begun", "err=it did not work", "exit=3"), "wait": act("pid", "sleep"),
				},
				want: map[string]map[string]any{"kit": {
					"lists": []any{8.0, 0.0, 0.0}, "echo": "grüße\u2028\n", "structured": map[string]any{"n": 42.0},
					"fail": []any{true, "begun\n"}, "unknown": -32602.0, "progress": true, "killed": []any{true, "given up", false},
				}},
			}
			switch {
			case c.client.transport == "stdio" && v.bare:
				v.command = []string{binary, "bridge", "kit"}
			case c.client.transport == "stdio":
				v.command = []string{binary, "serve"}
			case v.bare:
				v.url = bridgeHTTP(t, v.config, "kit").URL
			default:
				v.url = serveHTTP(t, v.config).URL
			}
			c.client.pages(t, v)
		})
	}
}
