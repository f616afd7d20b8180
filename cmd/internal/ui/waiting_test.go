package ui

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shared is a buffer for several goroutines.
type shared struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func (s *shared) Len() int { return len(s.String()) }

// TestWait: the line comes after a moment, says for how long, leaves room for notes and questions,
// and is gone in the end.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out shared
		u := &UI{Err: &out, ErrTTY: true}
		done := u.Wait(func() string { return "starting fs\x1b[31m" })
		time.Sleep(waitFirst - time.Millisecond)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("before the moment is over: %q", out.String())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if text := out.String(); !strings.HasSuffix(text, "starting fs… 2s") && !strings.HasSuffix(text, "starting fs[31m… 2s") {
			t.Errorf("after 2 s: %q", text)
		}
		u.Say("a note")
		if text := out.String(); !strings.HasSuffix(text, erase+"a note\n") {
			t.Errorf("a note: %q", text)
		}
		release := u.Hold()
		before := out.Len()
		time.Sleep(time.Second)
		synctest.Wait()
		if out.Len() != before {
			t.Errorf("during a question: %q", out.String()[before:])
		}
		release()
		time.Sleep(time.Second)
		synctest.Wait()
		done()
		done()
		if text := out.String(); out.Len() == before || !strings.HasSuffix(text, erase) {
			t.Errorf("at the end: %q", text[before:])
		}
	})
	var out bytes.Buffer
	for _, u := range []*UI{{Err: &out}, {Err: &out, ErrTTY: true, Quiet: true}} {
		u.Wait(func() string { return "x" })()
	}
	if out.Len() > 0 {
		t.Errorf("no terminal, or quiet: %q", out.String())
	}
}
