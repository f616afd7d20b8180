package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

const (
	// streamAfter is how long an answer may take before it becomes a stream, whose
	// comments keep the connection open.
	streamAfter = 5 * time.Second
	// writeTime is how long a write to a client may take, longer by its size at
	// limits.BodyRate: the connection of one that no longer reads ends then.
	writeTime = time.Minute
	// maxBuffered bounds the buffer that a stream keeps.
	maxBuffered = 64 << 10
)

// sseWriter writes server-sent events.
type sseWriter struct {
	w        http.ResponseWriter
	deadline *writeDeadline
	b        []byte
}

// events begins a response of events, which may last: each write is bounded, until
// done.
func events(ctx context.Context, w http.ResponseWriter) (s *sseWriter, done func()) {
	head := w.Header()
	head["Content-Type"], head["Cache-Control"], head["X-Accel-Buffering"] = sseType, noStore, noBuffer
	w.WriteHeader(http.StatusOK)
	clearReadDeadline(w)
	s = &sseWriter{w: w, deadline: newWriteDeadline(ctx, w)}
	return s, s.deadline.done
}

// writeUntil writes an answer that is no stream, by limits.LastWrite after ctx has
// ended. net/http writes a small one itself, after the handler.
func writeUntil(ctx context.Context, w http.ResponseWriter, to accept, status int, body []byte) {
	if len(body) > smallBody {
		p := newWriteDeadline(ctx, w)
		defer p.done()
		p.extend(len(body))
	}
	if to.compresses(len(body)) {
		writeGzip(w, status, body)
		return
	}
	write(w, status, body)
}

// event buffers one message.
func (s *sseWriter) event(id string, message []byte) {
	s.b = sse.AppendEvent(s.b, sse.Event{Name: "message", ID: id, Data: message})
}

// named buffers an event that is no message.
func (s *sseWriter) named(name, data string) {
	s.b = sse.AppendEvent(s.b, sse.Event{Name: name, Data: []byte(data)})
}

// mark buffers an event with nothing but the place in the stream and when to return.
func (s *sseWriter) mark(id string, retry time.Duration) {
	s.b = sse.AppendEvent(s.b, sse.Event{ID: id, Retry: retry})
}

func (s *sseWriter) comment() {
	s.b = sse.AppendComment(s.b, "keep-alive")
	_ = s.flush() // the request's context ends where the client has gone
}

// flush sends what is buffered. An error means that the client has gone; none means
// little.
func (s *sseWriter) flush() error {
	var err error
	s.deadline.extend(len(s.b))
	if len(s.b) > 0 {
		_, err = s.w.Write(s.b) //nolint:gosec // events, and typed so
	}
	if err == nil {
		if err = s.deadline.f.Flush(); errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	s.b = s.b[:0]
	if cap(s.b) > maxBuffered {
		s.b = nil
	}
	return err
}

// writeDeadline bounds the writes of one response: a client that does not read holds
// the goroutine that writes. It has no effect where the server has no deadlines.
type writeDeadline struct {
	f    *http.ResponseController
	stop func() bool // of the watch for the context's end
	last chan struct{}

	mu    sync.Mutex // guards what follows, and is held while a bound is set
	over  bool       // the context has ended
	until time.Time
}

// newWriteDeadline begins to bound writes, to limits.LastWrite once ctx has ended. Done must
// be called, for the connection may serve other requests.
func newWriteDeadline(ctx context.Context, w http.ResponseWriter) *writeDeadline {
	p := &writeDeadline{f: http.NewResponseController(w), last: make(chan struct{})}
	p.stop = context.AfterFunc(ctx, func() {
		defer close(p.last)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.set(time.Now().Add(limits.LastWrite))
	})
	return p
}

// extend bounds a write by its size. Small ones that follow one another closely share
// a bound: there is time enough.
func (p *writeDeadline) extend(size int) {
	now := time.Now()
	until := now.Add(writeTime + time.Duration(size/limits.BodyRate)*time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && until.Sub(p.until) > writeTime/4 {
		p.set(until)
	}
}

// set sets the bound. The caller holds the lock.
func (p *writeDeadline) set(until time.Time) {
	p.until = until
	_ = p.f.SetWriteDeadline(until) // not every server has one
}

// done lifts the bound.
func (p *writeDeadline) done() {
	if !p.stop() {
		<-p.last
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(time.Time{})
}
