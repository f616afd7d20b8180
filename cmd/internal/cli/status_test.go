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

func TestStatusWords(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, got := range map[string]string{
		"0s": since(at, at.Add(-time.Hour)), "12s": since(at, at.Add(12*time.Second)), "5m10s": since(at, at.Add(310*time.Second)),
		"2h13m": since(at, at.Add(133*time.Minute)), "3d4h": since(at, at.Add(76*time.Hour)), "1m0s": since(at, at.Add(59_700*time.Millisecond)),
		"33µs": latency(0.033), "1.25ms": latency(1.25), "12.3ms": latency(12.34), "456ms": latency(456.4), "1.5s": latency(1500), "120s": latency(120_000),
		"37.6 MB": memory(37_609_472), "": memory(-1) + computing(-1), "0.5s": computing(0.5), "1m5s": computing(65),
		"not known":         offers(nil, at),
		"nothing":           offers(&proxy.CatalogStatus{Source: proxy.SourceLive}, at),
		"1 tool, 2 prompts": offers(&proxy.CatalogStatus{Tools: 1, Prompts: 2, Source: proxy.SourceLive}, at),
		"3 tools (stored 1h0m ago), a list is missing": offers(&proxy.CatalogStatus{
			Tools: 3, Source: proxy.SourceStored, Verified: at.Add(-time.Hour), Missing: map[string]string{"prompts/list": "x"},
		}, at),
		"try in 20s":    next(&proxy.BackendStatus{NextTry: at.Add(20 * time.Second), NextReap: at}, at),
		"close in 1m0s": next(&proxy.BackendStatus{NextReap: at.Add(time.Minute)}, at),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStatusTable prints one serve in trouble. What servers and clients say of
// themselves cannot reach the terminal.
func TestStatusTable(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &serveStatus{
		PID: 4711, Version: "1.2.3", Started: now.Add(-2 * time.Hour), Front: "stdio",
		Config: gateway.ConfigStatus{Path: "/etc/servers.json", Loaded: now.Add(-time.Hour), Problem: "line 3: what\nis this"},
		Status: proxy.Status{
			Backends: []proxy.BackendStatus{{
				Name: "gh", State: "broken", Paused: true, NextTry: now.Add(20*time.Second + 300*time.Millisecond), Calls: 12, FailedCalls: 5, Restarts: 4,
				LastError: &proxy.ErrorStatus{Message: "gone\x1b[2J\nfor good", At: now.Add(-time.Minute)},
			}, {Name: "fs", State: "ready", Connections: []proxy.ConnectionStatus{{PID: 7, Since: now.Add(-time.Minute)}, {PID: 8, Since: now}}}},
			Clients: proxy.ClientsStatus{Sessions: 9, Recent: []proxy.ClientStatus{
				{Front: "http", Name: "evil\x1b[31m", LastSeen: now, InFlight: 2}, {Front: "sse", LastSeen: now}, {}, {}, {}, {},
			}},
			Bounds: []proxy.BoundStatus{{Name: "httpSessions", Used: 9000, Max: 10_000}, {Name: "httpStreams", Used: 1, Max: 10_000}},
		},
	}
	var out bytes.Buffer
	a := &app{environment: environment{ui: ui.New(nil, &out, nil)}}
	require.NoError(t, (&statusCommand{a}).printStatus(s, false))
	text := out.String()
	for _, want := range []string{
		"serve 4711, mcpctl 1.2.3, up 2h0m, on standard input and output\n", "configuration /etc/servers.json, read 1h0m ago\n  not in force: line 3: what is this\n",
		"it is ending", "httpSessions: 9000 of 10000\n", "evil", "waits for 2", "and 4 more", "gh      paused", "try in 20s", "7 +1", "gh, 1m0s ago: gone for good\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.ContainsRune(text, '\x1b') || strings.Contains(text, "httpStreams") {
		t.Errorf("got %q", text)
	}
}
