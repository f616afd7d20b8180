package httpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// TestSessionsLeaveNothingBehind: one that has ended, by DELETE or unused for
// long, is not told of changes any more.
func TestSessionsLeaveNothingBehind(t *testing.T) {
	b := newBounded(t)
	var all sessions
	ended, old := all.open(t.Context(), b.f, upstream.Audience{}, ""), all.open(t.Context(), b.f, upstream.Audience{}, "")
	if !all.remove(ended.id, "", "") || all.remove(ended.id, "", "") {
		t.Error("a session ends once")
	}
	old.used = time.Now().Add(-2 * sessionIdle)
	listening := all.open(t.Context(), b.f, upstream.Audience{}, "")
	detach := listening.listen(new(stream))
	listening.used = old.used // a stream counts as use
	all.open(t.Context(), b.f, upstream.Audience{}, "")
	detach()
	for s, want := range map[*session]bool{ended: false, old: false, listening: true} {
		if got := all.get(s.id, "", "") != nil; got != want || (s.lifetime.Err() == nil) != want {
			t.Errorf("got alive %v, want %v", got, want)
		}
	}
	if n := b.f.Router.Catalog.Listeners.Count(); n != 2 {
		t.Errorf("%d sessions are told of changes, want 2", n)
	}
	all.clear()
	if n := b.f.Router.Catalog.Listeners.Count(); n != 0 {
		t.Errorf("%d sessions are told of changes after the end", n)
	}
}

// TestSessionEndAnswers: the end of a session may drop the answer of a call, or come before
// it. The client of the call gets an error all the same.
func TestSessionEndAnswers(t *testing.T) {
	b := newBounded(t)
	h := NewStreamable(b.f, Options{})
	defer h.Close()
	for _, events := range []bool{false, true} {
		for range 100 { // which of its two ends a writer sees first is chance
			s := h.Sessions.open(t.Context(), b.f, upstream.Audience{}, "")
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
			x := newPost(&b.f.Budget.Unsent, s, upstream.Audience{}, r, []byte("5"), "", accept{events: events})
			s.close()
			x.stream.finish(nil)
			w := httptest.NewRecorder()
			h.await(w, r, x)
			if got := w.Body.String(); !strings.Contains(got, `"id":5,"error"`) {
				t.Fatalf("events %t: status %d, got %q", events, w.Code, got)
			}
		}
	}
}
