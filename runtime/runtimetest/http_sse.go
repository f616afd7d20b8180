package runtimetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// LegacySSE serves the deprecated HTTP+SSE transport of 2024-11-05: GET /sse
// opens the stream and names the endpoint, POST /messages sends.
func (s *Server) LegacySSE() http.Handler {
	l := &legacy{s: s, streams: map[string]*sseStream{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", l.stream)
	mux.HandleFunc("POST /messages", l.message)
	return mux
}

type legacy struct {
	s *Server

	mu      sync.Mutex // guards the rest
	next    int
	streams map[string]*sseStream
}

type sseStream struct {
	n   *session
	ctx context.Context //nolint:containedctx // the stream's own: calls end with it
}

func (l *legacy) stream(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	rc := http.NewResponseController(w)
	n := newSession(ctx, l.s, cancel)
	defer l.s.world.leave(n)
	var wmu sync.Mutex
	event := func(name string, data []byte) {
		wmu.Lock()
		defer wmu.Unlock()
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: ")))
		_ = rc.Flush()
	}
	n.out = func(frame []byte) { event("message", frame) }
	l.mu.Lock()
	l.next++
	id := strconv.Itoa(l.next)
	l.streams[id] = &sseStream{n, ctx}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.streams, id)
		l.mu.Unlock()
		n.wg.Wait() // nothing may write to w after this
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	event("endpoint", []byte("/messages?sessionId="+id))
	<-ctx.Done()
}

func (l *legacy) message(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	st := l.streams[r.URL.Query().Get("sessionId")]
	l.mu.Unlock()
	if st == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	st.n.handle(st.ctx, bytes.TrimSpace(body))
}
