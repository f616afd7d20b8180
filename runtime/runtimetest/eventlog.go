package runtimetest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// pause is how long a client whose stream was ended early is told to wait.
const pause = 10 * time.Millisecond

// eventLog has the streams of one session, by id. The zero value is ready.
type eventLog struct {
	mu   sync.Mutex
	next int
	m    map[string]*eventStream
}

// eventStream is all that was ever sent on one event stream.
type eventStream struct {
	id string

	mu     sync.Mutex // guards the rest
	frames [][]byte   // see Add
	done   bool
	cuts   int           // of the connection, so far
	cutAt  int           // how many frames there were at the latest
	reader bool          // somebody reads it
	taken  int           // frames that a reader has taken
	wake   chan struct{} // closed when something changes
}

// Open returns a new stream; "" has it numbered.
func (s *eventLog) Open(id string) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		s.next++
		id = strconv.Itoa(s.next)
	}
	if s.m == nil {
		s.m = map[string]*eventStream{}
	}
	st := &eventStream{id: id, wake: make(chan struct{})}
	s.m[id] = st
	return st
}

// Resume finds the stream of an event id and the number of the next event.
func (s *eventLog) Resume(event string) (*eventStream, int) {
	id, n, _ := strings.Cut(event, "_")
	last, err := strconv.Atoi(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, 0
	}
	return s.m[id], last + 1
}

// Find returns a stream, nil for none.
func (s *eventLog) Find(id string) *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[id]
}

// Claim notes that somebody reads the stream, and reports whether nobody has.
func (st *eventStream) Claim() (free bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	free = !st.reader
	st.reader = true
	return free
}

// Release takes back what Claim has noted.
func (st *eventStream) Release() { st.update(func() { st.reader = false }) }

func (st *eventStream) update(f func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	f()
	close(st.wake)
	st.wake = make(chan struct{})
}

// Add sends a frame; nil is a priming event, which has an id and no data.
func (st *eventStream) Add(frame []byte) {
	st.update(func() { st.frames = append(st.frames, bytes.Clone(frame)) })
}

// End ends the stream.
func (st *eventStream) End() { st.update(func() { st.done = true }) }

// Cut ends the connection that a reader follows the stream over, also one that is
// about to begin: it gets what was sent before the cut.
func (st *eventStream) Cut() { st.update(func() { st.cuts, st.cutAt = st.cuts+1, len(st.frames) }) }

// Follow writes a stream from an event on until it ends or the reader goes.
// Only one reader has a stream.
func (st *eventStream) Follow(ctx context.Context, w http.ResponseWriter, from int, ids bool) {
	rc := http.NewResponseController(w)
	_ = rc.Flush() // a client that has gone shows in the context
	st.mu.Lock()
	cuts := st.cuts
	if from < 0 {
		from = st.taken
	}
	st.mu.Unlock()
	for begin := from; ; {
		st.mu.Lock()
		done, wake, cut, end := st.done, st.wake, st.cuts > cuts || begin < st.cutAt, len(st.frames)
		if cut {
			end = min(max(from, st.cutAt), end)
		}
		frames := st.frames[min(from, end):end]
		st.taken = max(st.taken, end)
		st.mu.Unlock()
		for _, f := range frames {
			if ids {
				fmt.Fprintf(w, "id: %s_%d\n", st.id, from) //nolint:gosec // events, and typed so
			}
			from++
			if f == nil {
				fmt.Fprint(w, "data: \n\n")
			} else {
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", bytes.ReplaceAll(f, []byte("\n"), []byte("\ndata: "))) //nolint:gosec // events, and typed so
			}
		}
		if cut {
			fmt.Fprintf(w, "retry: %d\n\n", pause.Milliseconds())
		}
		_ = rc.Flush()
		if done || cut {
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}
