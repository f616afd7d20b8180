package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// behind is a server whose every tools/call is a function's: what it does with
// the call's Events is what the server sends inside it.
type behind struct {
	call    func(ctx context.Context, req *runtime.Request) (json.RawMessage, error)
	handler runtime.Handler
	tools   atomic.Pointer[string] // what tools/list gives
}

// offer says what tools/list gives.
func (b *behind) offer(list string) { b.tools.Store(&list) }

func (b *behind) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "tools/list" {
		return json.RawMessage(*b.tools.Load()), nil
	}
	return b.call(ctx, req)
}

func (b *behind) Notify(context.Context, *runtime.Request) error { return nil }
func (b *behind) Close() error                                   { return nil }

// inMemory is an HTTP endpoint without a socket, for tests in a bubble of time.
type inMemory struct {
	t *testing.T
	p *proxy.Proxy
	// handler is the Streamable HTTP one, or a mux with the HTTP+SSE one.
	handler http.Handler
	back    *behind
}

func handler(t *testing.T, o proxy.Options, ho proxy.HTTPOptions, call func(ctx context.Context, req *runtime.Request) (json.RawMessage, error)) *inMemory {
	t.Helper()
	b := &behind{call: call}
	b.offer(oneTool)
	// Tests let hours pass, and say when the server is first used.
	o.Servers = []proxy.Server{{Name: "a", IdleTimeout: -1, Start: proxy.StartCached}}
	o.Dial = func(_ context.Context, _ proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		b.handler = h
		return runtime.NewClient(b, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)}}), nil
	}
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	h := p.NewHTTPHandler(ho)
	s := p.NewSSEHandler(proxy.SSEOptions{HTTPOptions: ho})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/sse", s)
	mux.Handle("/messages", s.Messages())
	t.Cleanup(func() {
		h.Close()
		s.Close()
		_ = p.Close()
	})
	return &inMemory{t: t, p: p, handler: mux, back: b}
}

// reply is the answer to one request, as it comes.
type reply struct {
	t      *testing.T
	status int
	head   http.Header
	body   io.ReadCloser
	events *sse.Reader
	hangUp func() // the client goes
}

// slowWriter hands headers and body over as they are written. What is written
// is not taken before somebody reads it.
type slowWriter struct {
	head  http.Header
	once  sync.Once
	ready chan int
	body  *io.PipeWriter

	mu      sync.Mutex // guards what follows
	delayed *time.Timer
	writing bool
	over    bool // the deadline has passed
}

func (w *slowWriter) Header() http.Header { return w.head }
func (w *slowWriter) Flush()              {}
func (w *slowWriter) WriteHeader(status int) {
	w.once.Do(func() { w.ready <- status })
}

func (w *slowWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		_ = w.body.CloseWithError(errors.New("too late"))
		return 0, errors.New("too late")
	}
	w.writing = true
	w.mu.Unlock()
	n, err := w.body.Write(b)
	w.mu.Lock()
	w.writing = false
	w.mu.Unlock()
	return n, err
}

// SetWriteDeadline is for http.ResponseController. As with a socket it ends a
// write, not the response.
func (w *slowWriter) SetWriteDeadline(at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.delayed != nil {
		w.delayed.Stop()
		w.delayed = nil
	}
	if !at.IsZero() {
		w.delayed = time.AfterFunc(time.Until(at), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.writing {
				_ = w.body.CloseWithError(errors.New("too late"))
			}
			w.over = true
		})
	}
	w.over = false
	return nil
}

// do sends a request and waits for the status.
func (m *inMemory) do(method, path, body string, headers ...string) *reply {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	read, write := io.Pipe()
	w := &slowWriter{head: http.Header{}, ready: make(chan int, 1), body: write}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.handler.ServeHTTP(w, req)
		w.WriteHeader(http.StatusOK)
		_ = write.Close()
	}()
	patience := time.AfterFunc(24*time.Hour, func() { _ = read.CloseWithError(errors.New("waited for a day")) })
	r := &reply{t: m.t, body: read, hangUp: func() {
		cancel()
		_ = read.CloseWithError(errors.New("the client is gone"))
		<-done
	}}
	m.t.Cleanup(r.hangUp)
	// A test that waits in vain gets keep-alive comments for ever.
	m.t.Cleanup(func() { patience.Stop() })
	r.status = <-w.ready
	r.head = w.head.Clone()
	r.events = sse.NewReader(read, 1<<20)
	return r
}

// post sends a message, in a session where it is not "".
func (m *inMemory) post(session, body string, headers ...string) *reply {
	m.t.Helper()
	if session != "" {
		headers = append(headers, "Mcp-Session-Id", session)
	}
	return m.do(http.MethodPost, "/mcp", body, headers...)
}

// call calls the one tool, under an id, with progress asked for.
func (m *inMemory) call(session, id string, headers ...string) *reply {
	m.t.Helper()
	return m.post(session, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":"t"}}}`, headers...)
}

// listen opens a stream, after an event where that is not "".
func (m *inMemory) listen(session, after string) *reply {
	m.t.Helper()
	headers := []string{"Mcp-Session-Id", session}
	if after != "" {
		headers = append(headers, "Last-Event-Id", after)
	}
	return m.do(http.MethodGet, "/mcp", "", headers...)
}

// session shakes hands.
func (m *inMemory) session(version string) string {
	m.t.Helper()
	r := m.post("", hello(version))
	id := r.head.Get("Mcp-Session-Id")
	if text := r.all(); r.status != 200 || id == "" || !strings.Contains(text, version) {
		m.t.Fatalf("initialize: %d %s", r.status, text)
	}
	return id
}

func hello(version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`, version)
}

// all reads the body to its end.
func (r *reply) all() string {
	r.t.Helper()
	b, err := io.ReadAll(r.body)
	if err != nil {
		r.t.Errorf("read: %v", err)
	}
	return string(b)
}

// next reads one event.
func (r *reply) next() sse.Event {
	r.t.Helper()
	ev, err := r.events.Next()
	if err != nil {
		r.t.Fatalf("no more events: %v", err)
	}
	return ev
}

// message reads events up to one with data, and wants some text in it.
func (r *reply) message(want string) sse.Event {
	r.t.Helper()
	for {
		if ev := r.next(); len(ev.Data) > 0 {
			if !strings.Contains(string(ev.Data), want) {
				r.t.Errorf("got %s, want %s", ev.Data, want)
			}
			return ev
		}
	}
}

// ended reads events up to the end and wants none with data.
func (r *reply) ended() {
	r.t.Helper()
	for {
		ev, err := r.events.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || len(ev.Data) > 0 {
			r.t.Errorf("got %s, %v; want the end", ev.Data, err)
			return
		}
	}
}

// idOf is the raw id of a message.
func idOf(t *testing.T, message []byte) string {
	t.Helper()
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal(message, &m); err != nil || m.ID == nil {
		t.Fatalf("no id in %s", message)
	}
	return string(m.ID)
}

func note(method string, params string) func(ctx context.Context, req *runtime.Request) {
	return func(ctx context.Context, req *runtime.Request) {
		req.Events.Notification(ctx, req, method, json.RawMessage(params))
	}
}

// progress sends one progress message of a call.
func progress(ctx context.Context, req *runtime.Request, n int) {
	note("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, req.Token, n))(ctx, req)
}

var done = json.RawMessage(`{"content":[]}`)
