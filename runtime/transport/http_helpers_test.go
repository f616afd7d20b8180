package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// posted is one request as a test server saw it.
type posted struct {
	HTTPMethod string
	Header     http.Header
	Body       string
	ID         string
	Method     string
	Params     string
}

// script is a server that records what comes and answers by a function.
type script struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []posted
	more  chan struct{} // one token a request
	conns atomic.Int64
	gone  chan struct{} // one token a connection that has ended
}

func newScript(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, p posted)) *script {
	t.Helper()
	s := &script{more: make(chan struct{}, 10_000), gone: make(chan struct{}, 10_000)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p := posted{HTTPMethod: r.Method, Header: r.Header.Clone(), Body: string(b)}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if len(b) > 0 {
			if err := json.Unmarshal(b, &m); err != nil {
				t.Errorf("the body is not JSON: %q", b)
			}
		}
		p.ID, p.Method, p.Params = string(m.ID), m.Method, string(m.Params)
		s.mu.Lock()
		s.seen = append(s.seen, p)
		s.mu.Unlock()
		s.more <- struct{}{}
		answer(w, r, p)
	}))
	s.Config.ErrorLog = quiet()
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.conns.Add(1)
		case http.StateClosed:
			s.gone <- struct{}{}
		default: // in between
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// requests waits until there are n and returns them.
func (s *script) requests(t *testing.T, n int) []posted {
	t.Helper()
	for range n {
		wait.For(t, fmt.Sprintf("%d requests", n), s.more)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]posted(nil), s.seen...)
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

func newHTTP(t *testing.T, url string, o transport.HTTPOptions) *transport.HTTP {
	t.Helper()
	c, err := transport.NewHTTP(url, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func writeJSON(w http.ResponseWriter, status int, format string, a ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, format, a...)
}

// writeSSE sends raw stream text at once.
func writeSSE(w http.ResponseWriter, format string, a ...any) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	fmt.Fprintf(w, format, a...)
	w.(http.Flusher).Flush()
}

// recorder is a handler that keeps what it gets.
type recorder struct {
	runtime.NopHandler
	notes   chan note
	closed  chan error
	request func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

type note struct {
	call   *runtime.Request
	method string
	params string
}

func newRecorder() *recorder {
	return &recorder{notes: make(chan note, 1000), closed: make(chan error, 10)}
}

func (r *recorder) Notification(_ context.Context, call *runtime.Request, method string, params json.RawMessage) {
	r.notes <- note{call, method, string(params)}
}

func (r *recorder) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if r.request != nil {
		return r.request(ctx, method, params)
	}
	return r.NopHandler.Request(ctx, call, method, params)
}

func (r *recorder) Closed(err error) { r.closed <- err }

func (r *recorder) next(t *testing.T) note {
	t.Helper()
	return wait.For(t, "a notification", r.notes)
}

// quiet is for servers whose complaints are what the test wants.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
