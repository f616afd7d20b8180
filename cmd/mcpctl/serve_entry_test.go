//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeEntrySettings: what an entry says of its server counts through serve.
func TestServeEntrySettings(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	s := serveStdio(t, fmt.Sprintf(`{"mcpServers": {
		"brief":  {"command": "fake-mcp", "requestTimeout": "300ms"},
		"mute":   {"command": "fake-mcp", "args": ["-silent"], "connectTimeout": "300ms"},
		"shy":    {"command": "fake-mcp", "args": ["-silent-probe"], "connectTimeout": "3s", "probeTimeout": "100ms"},
		"words":  {"command": "fake-mcp", "args": ["-log", %q], "requestIdFormat": "string"},
		"strict": {"command": "fake-mcp", "args": ["-rubbish-between"], "strict": true},
		"loose":  {"command": "fake-mcp", "args": ["-rubbish-between"]},
		"clings": {"command": "fake-mcp", "args": ["-ignore-term", "-linger", "1m"], "shutdownTimeout": "50ms"}
	}}`, log))
	for _, tt := range []struct{ tool, arguments, want string }{
		{"brief__slow", `{"ms":60000}`, "no answer"},
		{"brief__echo", `{"message":"hi"}`, "hi"},
		{"brief__slow", `{"ms":60000}`, "no answer"}, // over the connection there is
		{"mute__echo", `{"message":"hi"}`, "no answer within 300ms"},
		{"shy__echo", `{"message":"hi"}`, "hi"},
		{"words__echo", `{"message":"hi"}`, "hi"},
		// The line comes before or after the handshake is sent: the words before it differ.
		{"strict__echo", `{"message":"hi"}`, "\"Server is starting"},
		{"loose__echo", `{"message":"hi"}`, "hi"},
	} {
		if got := s.text(tt.tool, tt.arguments); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.tool, got, tt.want)
		}
	}
	lines, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(lines), `"id":"`) {
		t.Errorf("ids: got %s (%v)", lines, err)
	}
	pid := s.pid("clings")
	s.write(entries("other"))
	s.until("the process has ended", func() bool { return !running(pid) })
}
