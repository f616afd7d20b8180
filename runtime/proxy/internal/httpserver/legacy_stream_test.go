package httpserver

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/test/require"
)

func newStream() *stream {
	s := new(stream)
	s.start(nil)
	return s
}

// text gives what a connection takes from a stream now.
func (n news) text() string {
	var all []string
	for _, q := range n.events {
		all = append(all, string(q.line()))
	}
	return strings.Join(all, " ")
}

// TestStreamBounds: progress gives way first, then log messages; what somebody
// waits for has room for longer, and an answer always.
func TestStreamBounds(t *testing.T) {
	s := newStream()
	for i := range maxQueued {
		require.NoError(t, s.push(fmt.Append(nil, "p", i), light))
	}
	if err := s.push([]byte("more progress"), light); !errors.Is(err, errStreamFull) {
		t.Errorf("got %v", err)
	}
	for i := range maxQueued {
		require.NoError(t, s.push(fmt.Append(nil, "m", i), middle))
	}
	if err := s.push([]byte("more log"), middle); !errors.Is(err, errStreamFull) {
		t.Errorf("got %v", err)
	}
	for i := range maxQueued {
		require.NoError(t, s.push(fmt.Append(nil, "q", i), heavy))
	}
	if err := s.push([]byte("more questions"), heavy); !errors.Is(err, errStreamFull) {
		t.Errorf("got %v", err)
	}
	s.finish([]byte("answer"))
	if err := s.push([]byte("late"), heavy); !errors.Is(err, errStreamEnded) {
		t.Errorf("got %v", err)
	}
	n := s.take(nil, false)
	got := n.text()
	if strings.Contains(got, "p") || !strings.HasPrefix(got, "m0 m1 ") || !strings.HasSuffix(got, " q255 answer") || len(n.events) != 2*maxQueued+1 || !n.ended {
		t.Errorf("got %d: %s", len(n.events), got)
	}
	if n := s.take(nil, false); len(n.events) > 0 || s.queue.bytes != 0 {
		t.Errorf("again: got %s", n.text())
	}
}

// TestStreamBoundOfBytes: large messages count for what they are.
func TestStreamBoundOfBytes(t *testing.T) {
	s := newStream()
	big := make([]byte, limits.MaxQueuedBytes/2+1)
	require.NoError(t, s.push(big, light))
	if err := s.push(big, light); !errors.Is(err, errStreamFull) {
		t.Errorf("got %v", err)
	}
	for range 3 { // instead of the progress, and beyond
		if err := s.push(big, heavy); err != nil {
			t.Error(err)
		}
	}
	if err := s.push(big, heavy); !errors.Is(err, errStreamFull) {
		t.Errorf("got %v", err)
	}
	s.finish(big)
	if n := s.take(nil, false); len(n.events) != 4 {
		t.Errorf("got %d messages", len(n.events))
	}
}

// TestKeeperBounds: what is kept for clients that come back has a bound; what
// has been taken goes first, oldest first, and the newest stream stays.
func TestReplayBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k replayBuffer
		defer k.stop()
		fill := func(n int, take bool) *stream {
			s := newStream()
			holder := k.keep(s, ofPost)
			for i := range n {
				require.NoError(t, s.push(fmt.Append(nil, i), heavy))
			}
			if take {
				s.take(holder, true)
			}
			s.finish([]byte("answer"))
			s.detach(holder)
			return s
		}
		has := func(s *stream, want string) {
			t.Helper()
			holder := s.attach(0)
			if holder == nil {
				if want != "" {
					t.Errorf("the stream is gone, want %s", want)
				}
				return
			}
			if got := s.take(holder, true).text(); got != want {
				t.Errorf("got %.80s, want %.80s", got, want)
			}
			s.detach(holder)
		}
		first, second := fill(2, true), fill(3, false)
		has(first, "0 1 answer")
		has(second, "0 1 2 answer")
		for range 3 {
			fill(maxStored/3, true)
		}
		has(first, "") // taken as a whole, by has
		if third := fill(300, false); k.full() {
			t.Errorf("%d messages are kept", k.events.Load())
		} else if holder := third.attach(0); holder == nil || len(third.take(holder, true).events) != 301 {
			t.Error("the newest has not stayed")
		} else {
			third.detach(holder)
		}
		big := make([]byte, maxStoredBytes+1)
		s := newStream()
		holder := k.keep(s, ofPost)
		s.finish(big)
		if got := s.take(holder, true); len(got.events) != 1 {
			t.Error("the newest has not stayed")
		}
		s.detach(holder)
		if n := k.bytes.Load(); n > int64(len(big)) {
			t.Errorf("%d bytes are kept", n)
		}
		fill(1, false)
		has(s, "") // it was too large to stay
		time.Sleep(keepTime)
		synctest.Wait()
		if k.events.Load() != 0 || k.bytes.Load() != 0 || len(k.order) != 0 {
			t.Errorf("after their time: %d messages, %d bytes, %d streams", k.events.Load(), k.bytes.Load(), len(k.order))
		}
	})
}

// TestKeeperBoundsStreams: a client that opens streams without end does not fill
// the memory with them.
func TestReplayBoundsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k replayBuffer
		defer k.stop()
		for i := range 3 * maxStored {
			s := newStream()
			kind := byte(ofGet)
			if i%2 == 0 {
				kind = ofPost
				s.finish(nil)
			}
			s.detach(k.keep(s, kind))
		}
		if n := len(k.order); n > maxStored {
			t.Errorf("%d streams are kept", n)
		}
	})
}

// TestKeeperKeepsWhatGoesOn: a request that takes long is not forgotten while
// its client is away.
func TestReplayKeepsOpenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k replayBuffer
		defer k.stop()
		s, get := newStream(), newStream()
		s.detach(k.keep(s, ofPost))
		get.detach(k.keep(get, ofGet))
		time.Sleep(10 * keepTime)
		synctest.Wait()
		if found, _, _ := k.find(get.name + "-0"); found != nil {
			t.Error("a stream of a GET is kept without end")
		}
		s.finish([]byte("answer"))
		time.Sleep(keepTime - time.Second)
		found, n, _ := k.find(s.name + "-0")
		if found != s || s.take(s.attach(n), true).text() != "answer" {
			t.Error("the answer is lost")
		}
	})
}
