package transport

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/secret"
)

// TestTailWithoutCredentials: wherever what is kept of standard error begins, and
// however it is cut into lines and pieces, no part of a credential is shown.
func TestTailWithoutCredentials(t *testing.T) {
	t.Parallel()
	const token = "tok-0123456789abcdefghijklmnopqrstuvwxyz"
	r := secret.NewRedactor(secret.New(token))
	for shift := range 2 * len(token) {
		for name, filler := range map[string]string{"one line": "x", "lines": "x\n"} {
			var log bytes.Buffer
			tl := newTail(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), r, func() {})
			// The token is where the kept part begins, or a little before or after.
			text := token + strings.Repeat(filler, (stderrTail+r.Longest()-shift)/len(filler))
			tl.drain(strings.NewReader(text))
			if got := tl.last(); strings.Contains(got, "vwxyz") || got == "" {
				t.Fatalf("%s, %d: it begins with %.60q", name, shift, got)
			}
			if strings.Contains(log.String(), "vwxyz") {
				t.Fatalf("%s, %d: the log has %.200s", name, shift, log.String())
			}
		}
	}
	for cut := 1; cut < len(token); cut++ {
		var log bytes.Buffer
		tl := newTail(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), r, func() {})
		for _, piece := range []string{"before " + token[:cut], token[cut:] + " after\n", "key " + token[:cut] + "\n", token[cut:] + "\n", "\x1b[1m" + token[:cut] + "\x1b[0m" + token[cut:] + "\n"} {
			tl.keep([]byte(piece))
		}
		for what, got := range map[string]string{"tail": tl.last(), "log": log.String()} {
			// A piece of three bytes tells nothing.
			if strings.Contains(got, token[:4]) || strings.Contains(got, token[len(token)-4:]) || !strings.Contains(got, "before [redacted] after") {
				t.Errorf("%s, cut at %d: %s", what, cut, got)
			}
		}
	}
}
