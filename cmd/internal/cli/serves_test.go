package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestStatusTable prints one serve in trouble. What servers and clients say of
// themselves cannot reach the terminal.
func TestStatusTable(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &serveStatus{
		PID: 4711, Version: "1.2.3", Started: now.Add(-2 * time.Hour), Transport: "stdio",
		Config: gateway.ConfigStatus{Path: "/etc/servers.json", Loaded: now.Add(-time.Hour), Problem: "line 3: what\nis this"},
		Status: proxy.Status{
			Backends: []proxy.BackendStatus{{
				Name: "gh", State: "broken", Paused: true, NextTry: now.Add(20*time.Second + 300*time.Millisecond), Calls: 12, FailedCalls: 5, Restarts: 4,
				LastError: &proxy.ErrorStatus{Message: "gone\x1b[2J\nfor good", At: now.Add(-time.Minute)},
			}, {
				Name: "fs", State: "ready", Connections: []proxy.ConnectionStatus{{PID: 7, Since: now.Add(-time.Minute)}, {PID: 8, Since: now}},
				Catalog: &proxy.CatalogStatus{Pin: &proxy.PinStatus{Mode: "hold", Difference: "changed: tool \x1b[2Ja; held back", Fix: "mcpctl lock diff fs"}},
			}},
			Clients: proxy.ClientsStatus{Sessions: 9, Recent: []proxy.ClientStatus{
				{Transport: "http", Name: "evil\x1b[31m", LastSeen: now, InFlight: 2}, {Transport: "sse", LastSeen: now}, {}, {}, {}, {},
			}},
			Bounds: []proxy.BoundStatus{{Name: "httpSessions", Used: 9000, Max: 10_000}, {Name: "httpStreams", Used: 1, Max: 10_000}},
		},
	}
	var out bytes.Buffer
	require.NoError(t, (&serveCommands{UI: ui.New(nil, &out, nil)}).printStatus(s, false))
	text := out.String()
	for _, want := range []string{
		"serve 4711, mcpctl 1.2.3, up 2h0m, on standard input and output\n", "configuration /etc/servers.json, read 1h0m ago\n  not in force: line 3: what is this\n",
		"it is ending", "httpSessions: 9000 of 10000\n", "evil", "waits for 2", "and 4 more", "gh      paused", "try in 20s", "7 +1", "gh, 1m0s ago: gone for good\n",
		"fs: not as it is locked: changed: tool a; held back (mcpctl lock diff fs)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.ContainsRune(text, '\x1b') || strings.Contains(text, "httpStreams") {
		t.Errorf("got %q", text)
	}
}
