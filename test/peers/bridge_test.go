//go:build integration

package peers_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// bridgeHTTP starts mcpctl bridge --http on a free port in front of a server that
// speaks on standard input and output, or of a configured one; it is stopped with the
// test.
func bridgeHTTP(t *testing.T, config string, words ...string) *wire.Daemon {
	t.Helper()
	return wire.Serve(t, wire.Setup{Program: binary, Command: "bridge", Config: config, Args: words})
}

// commandOf returns the words that start the server of an entry.
func commandOf(e entry) []string {
	return append([]string{e.object["command"].(string)}, e.object["args"].([]string)...)
}

// TestBridge has clients of other SDKs reach servers of other SDKs through bridge, in
// both directions.
func TestBridge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client         tourist
		sdk, transport string // of the server
		daily          bool   // not only with make nightly
	}{
		{tourist{"v1", "legacy", "stdio"}, "v2", "http", true},
		{tourist{"v2", "modern", "stdio"}, "v1", "http", false},
		{tourist{"v2", "legacy", "stdio"}, "v1", "sse", false},
		{tourist{"python", "modern", "stdio"}, "v2", "http", true},
		{tourist{"python", "legacy", "stdio"}, "python", "http", false},
		{tourist{"python", "legacy", "stdio"}, "v1", "sse", false},
		{tourist{"v2", "modern", "http"}, "v1", "stdio", false},
		{tourist{"v1", "legacy", "http"}, "v2", "stdio", false},
		{tourist{"v1", "legacy", "sse"}, "v2", "stdio", true},
		{tourist{"v2", "modern", "http"}, "python", "stdio", true},
		{tourist{"python", "modern", "http"}, "python", "stdio", false},
		{tourist{"python", "legacy", "http"}, "python", "stdio", false},
		{tourist{"python", "legacy", "sse"}, "v2", "stdio", false},
	} {
		if !c.daily && !wire.Nightly() {
			continue
		}
		t.Run(c.client.String()+" - "+c.sdk+" "+c.transport, func(t *testing.T) {
			t.Parallel()
			e := peer(t, t.TempDir(), c.sdk, "far", c.transport)
			v := visit{bare: true, config: configure(t), want: map[string]map[string]any{"far": findsBare(c.sdk, "far")}}
			if c.client.transport == "stdio" {
				v.command = []string{binary, "bridge", e.object["url"].(string)}
			} else {
				v.url = bridgeHTTP(t, v.config, append([]string{"--"}, commandOf(e)...)...).URL
			}
			c.client.pages(t, v)
		})
	}
}
