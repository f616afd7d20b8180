package ui

import (
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// pane records writes and their times.
type pane struct {
	mu    sync.Mutex
	drawn []string
	at    []time.Duration
	start time.Time
}

func (s *pane) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn, s.at = append(s.drawn, string(b)), append(s.at, time.Since(s.start))
	return len(b), nil
}

// TestProgressIsThrottled: of a flood of messages only some are drawn, the
// newest among them, and the line is gone at the end.
func TestProgressIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pane{start: time.Now()}
		u := &UI{Out: io.Discard, Err: s, ErrTTY: true}
		p := u.StartProgress()
		for i := range 1000 {
			p.Update(runtime.Progress{Progress: float64(i)})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		p.Stop()
		if n := len(s.drawn); n > 20 {
			t.Errorf("drawn %d times within a second", n)
		}
		if last := s.drawn[len(s.drawn)-2]; last != erase+"999" {
			t.Errorf("the newest drawn is %q", last)
		}
		if last := s.drawn[len(s.drawn)-1]; last != erase {
			t.Errorf("in the end there is %q", last)
		}
	})
}

// TestLiveLineMakesRoom: for questions, and for lines of the log.
func TestLiveLineMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pane{}
		u := &UI{Out: io.Discard, Err: s, ErrTTY: true}
		p := u.StartProgress()
		update := func(n float64) {
			p.Update(runtime.Progress{Progress: n})
			time.Sleep(time.Second)
		}
		update(1)
		_, _ = io.WriteString(u.Log(), "a line\n")
		_, _ = io.WriteString(u.Log(), "another\n")
		update(2)
		release := u.Hold()
		update(3) // while a question is asked
		release()
		release()
		update(4)
		p.Stop()
		want := []string{erase + "1", erase, "a line\n", "another\n", erase + "2", erase, erase + "4", erase}
		if !slices.Equal(s.drawn, want) {
			t.Errorf("got %q, want %q", s.drawn, want)
		}
	})
}

func TestBrowserCommand(t *testing.T) {
	const page = "https://example.com/?a=1&b='2'"
	for _, c := range []struct{ chosen, system, want string }{
		{"", "linux", "xdg-open|" + page},
		{"", "darwin", "open|" + page},
		{"", "windows", "rundll32|url.dll,FileProtocolHandler|" + page},
		{"firefox --new-tab", "linux", "firefox|--new-tab|" + page},
		{"show --page=%s -x", "darwin", "show|--page=" + page + "|-x"},
	} {
		if got := strings.Join(browser(c.chosen, c.system, page), "|"); got != c.want {
			t.Errorf("%q on %s: got %s, want %s", c.chosen, c.system, got, c.want)
		}
	}
	if err := OpenBrowser(t.Context(), func(string) string { return "no-such-browser" }, page); err == nil {
		t.Error("a browser that is not there was started")
	}
}
