package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// question asks for a name.
const question = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`

func TestFileURI(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a b/é#?%": "file:///home/a%20b/%C3%A9%23%3F%25",
		"/":              "file:///",
		"C:/Users/x":     "file:///C:/Users/x",
		"//host/share/x": "file://host/share/x",
	} {
		if got := fileURI(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestServerLog: a server's message stays on one line and looks like none of
// ours.
func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	newAnswers(answerOptions{Server: "s"}).Notification(t.Context(), nil, "notifications/message", json.RawMessage(`{"level":"error","data":"without a log"}`))
	h := newAnswers(answerOptions{Server: "s", Log: slog.New(slog.NewTextHandler(&out, nil))})
	for _, params := range []string{`{"level":"error","data":"a\nb\u001b[31m"}`, `{"level":"info","data":{"k":1},"logger":"x"}`, `{"level":"debug","data":"hidden"}`, `7`} {
		h.Notification(t.Context(), nil, "notifications/message", json.RawMessage(params))
	}
	h.Notification(t.Context(), nil, "notifications/other", json.RawMessage(`{}`))
	got := out.String()
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, `level=ERROR msg="server log" server=s level=error data="a b"`) || !strings.Contains(got, `data="{\"k\":1}" logger=x`) {
		t.Errorf("got %s", got)
	}
}

// TestOneQuestionAtATime: a person answers one question, then the next.
func TestOneQuestionAtATime(t *testing.T) {
	h := newAnswers(answerOptions{Server: "s", UI: &ui.UI{Err: &bytes.Buffer{}}, Asker: &ui.NonInteractive{}})
	h.turn <- struct{}{} // a question is open
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got, err := h.Request(ctx, nil, "elicitation/create", json.RawMessage(question)); !errors.Is(err, context.DeadlineExceeded) || got != nil {
		t.Errorf("got %s %v", got, err)
	}
	<-h.turn
	if got, err := h.Request(t.Context(), nil, "elicitation/create", json.RawMessage(question)); err != nil || string(got) != `{"action":"cancel"}` {
		t.Errorf("got %s %v", got, err)
	}
}
