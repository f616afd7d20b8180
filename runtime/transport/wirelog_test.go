package transport

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcpctl/mcpctl/internal/secret"
)

// TestLog: each message is logged once, in either direction, cut where it is long and
// without credentials; without that level nothing is.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	text := func(level slog.Level) *slog.Logger {
		return slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))
	}
	redact := secret.NewRedactor(secret.New("hush-hush-hush"))
	if l := newWireLog(text(slog.LevelInfo), redact); l != nil {
		t.Error("messages are logged without the level")
	}
	var none *wireLog
	none.Sent([]byte("x"))
	l := newWireLog(text(slog.LevelDebug), redact)
	var sink bytes.Buffer
	_, _ = l.Writer(&sink).Write([]byte("{\"a\":1}\n{\"token\":\"hush-hush-hush\"}\n"))
	in := "{\"b\":1}\n\n{\"long\":\"" + strings.Repeat("y", 3*maxText) + "hush-hush-hush\"}\n"
	got, err := io.ReadAll(l.Reader(iotest.OneByteReader(strings.NewReader(in))))
	if err != nil || string(got) != in || sink.Len() != 8+len("{\"token\":\"hush-hush-hush\"}\n") {
		t.Errorf("the messages themselves have changed: %d, %d, %v", len(got), sink.Len(), err)
	}
	logged := out.String()
	if strings.Count(logged, "message sent") != 2 || strings.Count(logged, "message received") != 2 || strings.Contains(logged, "hush") || len(logged) > 2*maxText {
		t.Errorf("logged %s", logged)
	}
}
