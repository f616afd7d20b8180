package runtimetest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// streams are those of one session, by id. The zero value is ready.
type streams struct {
	mu   sync.Mutex
	next int
	m    map[string]*stream
}

// stream is all that was ever sent on one event stream.
type stream struct {
	id string

	mu     sync.Mutex // guards the rest
	frames [][]byte   // a nil one is a priming event
	done   bool
	cuts   int           // how often Poll has ended the connection
	reader bool          // somebody reads it
	taken  int           // frames that a reader has taken
	wake   chan struct{} // closed when something changes
}

// open makes a stream; "" gives it a number.
func (s *streams) open(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		s.next++
		id = strconv.Itoa(s.next)
	}
	if s.m == nil {
		s.m = map[string]*stream{}
	}
	st := &stream{id: id, wake: make(chan struct{})}
	s.m[id] = st
	return st
}

// resume finds the stream of an event id and the number of the next event.
func (s *streams) resume(event string) (*stream, int) {
	id, n, _ := strings.Cut(event, "_")
	last, err := strconv.Atoi(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, 0
	}
	return s.m[id], last + 1
}

func (st *stream) update(f func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	f()
	close(st.wake)
	st.wake = make(chan struct{})
}

func (st *stream) add(frame []byte) {
	st.update(func() { st.frames = append(st.frames, bytes.Clone(frame)) })
}
func (st *stream) end() { st.update(func() { st.done = true }) }
func (st *stream) cut() { st.update(func() { st.cuts++ }) }

// follow writes a stream from an event on until it ends or the reader goes.
// Only one reader has a stream.
func (st *stream) follow(ctx context.Context, w http.ResponseWriter, from int, ids bool) {
	rc := http.NewResponseController(w)
	_ = rc.Flush() // a client that has gone shows in the context
	st.mu.Lock()
	cuts := st.cuts
	if from < 0 {
		from = st.taken
	}
	st.mu.Unlock()
	for {
		st.mu.Lock()
		frames, done, wake, cut := st.frames[min(from, len(st.frames)):], st.done, st.wake, st.cuts > cuts
		st.taken = max(st.taken, len(st.frames))
		st.mu.Unlock()
		for _, f := range frames {
			if ids {
				fmt.Fprintf(w, "id: %s_%d\n", st.id, from) //nolint:gosec // an event stream is no page
			}
			from++
			if f == nil {
				fmt.Fprint(w, "data: \n\n")
			} else {
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", bytes.ReplaceAll(f, []byte("\n"), []byte("\ndata: "))) //nolint:gosec // an event stream is no page
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

// stream answers a request with an event stream of its own.
func (h *handler) stream(ctx context.Context, w http.ResponseWriter, hs *httpSession, m message) {
	st := hs.streams.open("")
	hs.n.mu.Lock()
	prime := h.o.Resume && hs.n.version >= RevNov
	hs.n.mu.Unlock()
	if prime {
		st.add(nil) // "an SSE event consisting of an event ID and an empty data field"
	}
	call, cut := ctx, (func())(nil)
	if h.o.Resume && hs.n.out != nil {
		call, cut = hs.ctx, st.cut // it outlives the connection
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if hs.n.serveOn(call, st.add, cut, m) {
			st.end()
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.follow(ctx, w, 0, h.o.Resume)
	if cut == nil {
		<-ended
	}
}

// get serves the stream of what the server sends outside of calls, or the rest
// of any stream that has broken off.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	hs := h.find(r)
	if hs == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	hs.streams.mu.Lock()
	st, from := hs.streams.m["0"], -1
	hs.streams.mu.Unlock()
	if last := r.Header.Get("Last-Event-Id"); h.o.Resume && last != "" {
		if st, from = hs.streams.resume(last); st == nil {
			http.Error(w, "unknown event", http.StatusNotFound)
			return
		}
	}
	st.mu.Lock()
	taken := st.reader && st.id == "0"
	st.reader = true
	st.mu.Unlock()
	if taken {
		http.Error(w, "the session has a stream already", http.StatusConflict)
		return
	}
	hs.attach(1)
	defer hs.attach(-1)
	defer st.update(func() { st.reader = false })
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(hs.ctx, cancel)()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	st.follow(ctx, w, from, h.o.Resume)
}

func (hs *httpSession) attach(by int) {
	hs.n.mu.Lock()
	defer hs.n.mu.Unlock()
	hs.n.attached += by
}
