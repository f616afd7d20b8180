//go:build integration

package peers_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// typescript is a server of a TypeScript SDK: "v1" is @modelcontextprotocol/sdk,
// "v2" @modelcontextprotocol/server, which speaks both eras unless one is named.
func typescript(t *testing.T, dir, sdk, name, transport, era string) entry {
	t.Helper()
	words := npmtest.Peer(t, "server.mjs", sdk, name, transport, era)
	if transport == "stdio" {
		return process(name, map[string]string{"PEERS_DIR": dir}, words...)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), words[0], words[1:]...)
	cmd.Env = append(cmd.Environ(), "PEERS_DIR="+dir)
	p, err := wire.Launch(cmd, "URL ")
	require.NoError(t, err)
	t.Cleanup(func() { p.Stop(0) })
	e := remote(name, p.URL)
	if transport == "sse" {
		e.object["type"] = "sse"
	}
	return e
}

// TestTypeScriptOnBothSides drives mcpctl serve with the clients of the
// TypeScript SDKs and has their servers behind, over each transport in each era
// that it has.
func TestTypeScriptOnBothSides(t *testing.T) {
	t.Parallel()
	want := func(name string) map[string]any {
		return map[string]any{
			"lists": []any{9.0, 1.0, 1.0}, "echo": "grüße\n\u2028", "structured": map[string]any{"n": 42.0},
			"fail": []any{true, "it did not work"}, "unknown": -32602.0, "progress": true,
			"ask": "accept Ada", "sample": "m roses are red", "updated": true, "read": "this is " + name + "://note",
			"prompt": "Greet Ada.", "complete": []any{"Ada"}, "cancel": []any{"given up", 1.0},
		}
	}
	web := []entry{ // what all have in common, and shows that it can be
		typescript(t, t.TempDir(), "v2", "web", "http", ""),
		typescript(t, t.TempDir(), "v1", "oldweb", "http", ""),
		typescript(t, t.TempDir(), "v1", "oldsse", "sse", ""),
	}
	backends := []string{"both", "handshake", "stateless", "web", "old", "oldweb", "oldsse"}
	setup := func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		return configure(t, append([]entry{
			typescript(t, dir, "v2", "both", "stdio", ""),
			typescript(t, dir, "v2", "handshake", "stdio", "legacy"),
			typescript(t, dir, "v2", "stateless", "stdio", "modern"),
			typescript(t, dir, "v1", "old", "stdio", ""),
		}, web...)...)
	}
	url := serveHTTP(t, setup(t)).URL
	for _, c := range []struct {
		sdk, era, transport string
		daily               bool // not only with make nightly
	}{
		{"v2", "modern", "stdio", false},
		{"v2", "modern", "http", true},
		{"v2", "legacy", "stdio", false},
		{"v2", "legacy", "http", false},
		{"v2", "legacy", "sse", false},
		{"v1", "legacy", "stdio", true},
		{"v1", "legacy", "http", false},
		{"v1", "legacy", "sse", false},
	} {
		if !c.daily && !wire.Nightly() {
			continue
		}
		// One after another: they count each other's cancels.
		t.Run(c.sdk+" "+c.era+" "+c.transport, func(t *testing.T) {
			how := map[string]any{"sdk": c.sdk, "era": c.era, "transport": c.transport, "backends": backends, "url": url}
			switch c.transport {
			case "stdio":
				how["command"] = []string{binary, "serve", "--config", setup(t)}
			case "sse":
				how["url"] = strings.TrimSuffix(url, "/mcp") + "/sse"
			}
			raw, err := json.Marshal(how)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), wire.Limit)
			defer cancel()
			words := npmtest.Peer(t, "client.mjs", string(raw))
			cmd := exec.CommandContext(ctx, words[0], words[1:]...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("client: %v\n%s%s", err, out, stderr.String())
			}
			var got map[string]map[string]any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, name := range backends {
				if diff := cmp.Diff(want(name), got[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestTypeScriptServersFromTheCommandLine calls the servers of the TypeScript
// SDKs with mcpctl's commands, over each transport in each era that they have.
func TestTypeScriptServersFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := configure(t,
		typescript(t, dir, "v2", "both", "stdio", ""),
		typescript(t, dir, "v2", "handshake", "stdio", "legacy"),
		typescript(t, dir, "v2", "stateless", "stdio", "modern"),
		typescript(t, dir, "v2", "web", "http", ""),
		typescript(t, dir, "v1", "old", "stdio", ""),
		typescript(t, dir, "v1", "oldweb", "http", ""),
		typescript(t, dir, "v1", "oldsse", "sse", ""),
	)
	for name, version := range map[string]string{
		"both": "2026-07-28", "handshake": "2025-11-25", "stateless": "2026-07-28", "web": "2026-07-28",
		"old": "2025-11-25", "oldweb": "2025-11-25", "oldsse": "2025-11-25",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for words, want := range map[string]string{
				"--json ping " + name:                                  `"protocolVersion":"` + version + `"`,
				"tools " + name:                                        `"name":"add"`,
				name + " echo message=grüße":                           "grüße",
				name + " add a=40 b:=2":                                `"structuredContent":{"n":42}`,
				name + ` ask --elicit {"name":"Ada"}`:                  "accept Ada",
				name + " ask --elicit decline":                         "decline",
				name + " steps n=3":                                    "done",
				"read " + name + " " + name + "://note":                "this is " + name + "://note",
				"prompt " + name + " greet who=Ada":                    "Greet Ada.",
				"--protocol-version " + version + " resources " + name: name + "://note",
			} {
				if out := ok(t, config, strings.Fields(words)...); !strings.Contains(out, want) {
					t.Errorf("%s: got %.500s, want %q", words, out, want)
				}
			}
			sample := 3 // sampling is not offered: the tool says so
			if version == "2026-07-28" {
				sample = 8 // the server does: -32021
			}
			for words, code := range map[string]int{
				name + " fail": 3, name + " ecko message=hi": 2, name + " sample": sample,
			} {
				if o := mcpctl(t, config, strings.Fields(words)...); o.code != code {
					t.Errorf("%s: got %d, want %d: %s%s", words, o.code, code, o.stdout, o.stderr)
				}
			}
		})
	}
}
