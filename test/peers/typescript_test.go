//go:build integration

package peers_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// typescript is a server of a TypeScript SDK: "v1" is @modelcontextprotocol/sdk,
// "v2" @modelcontextprotocol/server, which speaks both eras unless one is named.
func typescript(t *testing.T, dir, sdk, name, transport, era string) entry {
	t.Helper()
	words := npmtest.Peer(t, "server.mjs", sdk, name, transport, dir, era)
	if transport == "stdio" {
		return process(name, nil, words...)
	}
	return listening(t, name, transport, words)
}

// TestTypeScriptOnBothSides drives mcpctl serve with the clients of the
// TypeScript SDKs and has their servers behind, over each transport in each era
// that it has.
func TestTypeScriptOnBothSides(t *testing.T) {
	t.Parallel()
	web := []entry{ // what all have in common, and shows that it can be
		typescript(t, t.TempDir(), "v2", "web", "http", ""),
		typescript(t, t.TempDir(), "v1", "oldweb", "http", ""),
		typescript(t, t.TempDir(), "v1", "oldsse", "sse", ""),
	}
	want := map[string]map[string]any{}
	for _, name := range []string{"both", "handshake", "stateless", "web", "old", "oldweb", "oldsse"} {
		want[name] = finds("v2", name)
	}
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
		tourist
		daily bool // not only with make nightly
	}{
		{tourist{"v2", "modern", "stdio"}, false},
		{tourist{"v2", "modern", "http"}, true},
		{tourist{"v2", "legacy", "stdio"}, false},
		{tourist{"v2", "legacy", "http"}, false},
		{tourist{"v2", "legacy", "sse"}, false},
		{tourist{"v1", "legacy", "stdio"}, true},
		{tourist{"v1", "legacy", "http"}, false},
		{tourist{"v1", "legacy", "sse"}, false},
	} {
		if !c.daily && !wire.Nightly() {
			continue
		}
		// One after another: they count each other's cancels.
		t.Run(c.String(), func(t *testing.T) {
			v := visit{url: url, want: want}
			if c.transport == "stdio" {
				v.config, v.command = setup(t), []string{binary, "serve"}
			}
			c.pages(t, v)
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
			steps := map[string]string{
				"--json ping " + name:                 `"protocolVersion":"` + version + `"`,
				name + ` ask --elicit {"name":"Ada"}`: "accept Ada",
			}
			everything := strings.Contains(name, "web") || name == "oldsse" || wire.Nightly()
			if everything { // on stdio, each command starts the server
				maps.Copy(steps, map[string]string{
					"tools " + name:                                        `"name":"add"`,
					name + " echo message=grüße":                           "grüße",
					name + " add a=40 b:=2":                                `"structuredContent":{"n":42}`,
					name + " ask --elicit decline":                         "decline",
					name + " steps n=3":                                    "done",
					"read " + name + " " + name + "://note":                "this is " + name + "://note",
					"prompt " + name + " greet who=Ada":                    "Greet Ada.",
					"--protocol-version " + version + " resources " + name: name + "://note",
				})
			}
			for words, want := range steps {
				if out := ok(t, config, strings.Fields(words)...); !strings.Contains(out, want) {
					t.Errorf("%s: got %.500s, want %q", words, out, want)
				}
			}
			if !everything {
				return
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
