package httpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/wait"
)

// mute is a server that answers tools/list, and calls when it is let.
type mute struct {
	begun chan struct{}
	let   chan struct{}
}

func (m *mute) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "tools/list" {
		return json.RawMessage(`{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`), nil
	}
	m.begun <- struct{}{}
	select {
	case <-m.let:
		return json.RawMessage(`{"content":[]}`), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *mute) Notify(context.Context, *runtime.Request) error { return nil }
func (m *mute) Close() error                                   { return nil }

// bounded is an endpoint over a mute server.
type bounded struct {
	t *testing.T
	f *endpoint.Set
	h *Streamable
	m *mute
}

func newBounded(t *testing.T) *bounded {
	t.Helper()
	m := &mute{begun: make(chan struct{}, 2*limits.MaxBackendServing), let: make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	rt := router.New(router.Options{
		Backends: upstream.Options{Logger: log, Dial: func(context.Context, upstream.Key, *access.Principal, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(m, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		}},
		Catalog: catalog.Options{Separator: "__", NameLimit: 44, Ring: seal.NewKeyring(), Logger: log}, Logger: log,
	})
	if _, err := rt.Reconfigure([]upstream.Settings{{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	f := endpoint.NewSet(rt)
	b := &bounded{t: t, f: f, h: NewStreamable(f, Options{AccessControl: AccessControl{AnyHost: true}}), m: m}
	t.Cleanup(func() {
		b.h.Close()
		rt.Close()
	})
	return b
}

func (b *bounded) do(method, session string, body io.Reader) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "/", body)
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	b.h.ServeHTTP(w, r)
	return w
}

func (b *bounded) session() string {
	b.t.Helper()
	w := b.do("POST", "", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
	return w.Header().Get("Mcp-Session-Id")
}

const callX = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`

// TestRequestsAreBounded: a session's, and a server's of all sessions together;
// when there is room again, they are served again.
func TestRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBounded(t)
		var work sync.WaitGroup
		fill := func(session string, n int) {
			for range n {
				work.Go(func() {
					if w := b.do("POST", session, strings.NewReader(callX)); w.Code != http.StatusOK {
						t.Errorf("got %d %s", w.Code, w.Body)
					}
				})
			}
			synctest.Wait()
		}
		for _, session := range []string{b.session(), b.session()} {
			fill(session, limits.MaxSessionServing)
			w := b.do("POST", session, strings.NewReader(callX))
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"id":1,"error"`) {
				t.Errorf("one more of a session: %d %s", w.Code, w.Body)
			}
		}
		if n := len(b.m.begun); n != limits.MaxBackendServing {
			t.Errorf("the server has %d calls", n)
		}
		if w := b.do("POST", b.session(), strings.NewReader(callX)); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "too many requests wait for its answers") || !strings.Contains(w.Body.String(), `"server":"a"`) {
			t.Errorf("one more for the server: %d %s", w.Code, w.Body)
		}
		close(b.m.let)
		work.Wait()
		if w := b.do("POST", b.session(), strings.NewReader(callX)); !strings.Contains(w.Body.String(), `"content":[]`) {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
	})
}

// TestServingIsBounded: the same for all requests of an endpoint.
func TestServingIsBounded(t *testing.T) {
	b := newBounded(t)
	b.h.serving.Store(limits.MaxServing)
	if w := b.do("POST", "", strings.NewReader(callX)); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too many requests") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	b.h.serving.Store(0)
}

// endless is a body that never ends; it counts what is taken.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.n += int64(len(p))
	return len(p), nil
}

// TestBodiesAreBounded: one that is too large is refused; what is read of it so
// that the client gets the answer is bounded, too. Where there is no room for a
// large one it is refused, and small ones are not.
func TestBodiesAreBounded(t *testing.T) {
	b := newBounded(t)
	b.h.o.MaxBody = 1 << 20
	told := &endless{}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", told)
	r.ContentLength = 1<<20 + 1
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if b.h.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge || told.n > 2<<20 {
		t.Errorf("told: %d %s, %d bytes read", w.Code, w.Body, told.n)
	}
	if w := b.do("POST", "", told); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("not told: %d %s", w.Code, w.Body)
	}
	if told.n > 5<<20 {
		t.Errorf("%d bytes are read of two bodies that are too large", told.n)
	}
	ping := func(size int) *httptest.ResponseRecorder {
		return b.do("POST", "", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+strings.Repeat(" ", size)))
	}
	b.f.Budget.Bodies.N.Store(limits.MaxBodies)
	if w := ping(100 << 10); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "too much") {
		t.Errorf("no room: %d %s", w.Code, w.Body)
	}
	if w := ping(0); w.Code != http.StatusOK {
		t.Errorf("a small one: %d %s", w.Code, w.Body)
	}
	b.f.Budget.Bodies.N.Store(0)
	for _, size := range []int{100 << 10, 900 << 10} {
		if w := ping(size); w.Code != http.StatusOK {
			t.Errorf("%d bytes: %d %s", size, w.Code, w.Body)
		}
	}
	// A request ends after its answer is out.
	wait.Until(t, "all bytes are given back", func() bool { return b.f.Budget.Bodies.N.Load() == 0 })
}

// TestStreamsAreBounded: those of a session, of an endpoint, and of HTTP+SSE.
func TestStreamsAreBounded(t *testing.T) {
	b := newBounded(t)
	id := b.session()
	s := b.h.Sessions.get(id, "", "")
	var stops []func()
	for range limits.MaxSessionStreams {
		one := &stream{}
		one.start(&b.f.Budget.Unsent)
		stops = append(stops, s.listen(one))
	}
	if w := b.do("GET", id, nil); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "too many streams") {
		t.Errorf("one more of a session: %d %s", w.Code, w.Body)
	}
	for _, stop := range stops {
		stop()
	}
	b.h.streams.Store(limits.MaxStreams)
	if w := b.do("GET", id, nil); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "too many streams") {
		t.Errorf("one more of a front: %d %s", w.Code, w.Body)
	}
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}},"notifications":{"toolsListChanged":true}}}`
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(listen))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}
	w := httptest.NewRecorder()
	if b.h.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"id":1,"error"`) {
		t.Errorf("one more listen: %d %s", w.Code, w.Body)
	}
	if n := b.h.streams.Load(); n != limits.MaxStreams {
		t.Errorf("%d streams are counted", n)
	}
	b.h.streams.Store(0)
	f := NewSSE(b.f, Options{AccessControl: AccessControl{AnyHost: true}}, "")
	for i := range limits.MaxStreams {
		f.m[fmt.Sprint(i)] = nil
	}
	r = httptest.NewRequestWithContext(t.Context(), "GET", "/sse", nil)
	w = httptest.NewRecorder()
	if f.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "too many streams") {
		t.Errorf("one more over HTTP+SSE: %d %s", w.Code, w.Body)
	}
	clear(f.m)
	f.Close()
}

// TestUnsentIsBounded: where much waits for clients in all, each has a share,
// and what has been taken is counted no more.
func TestUnsentIsBounded(t *testing.T) {
	b := newBounded(t)
	all := &b.f.Budget.Unsent
	s := &stream{}
	s.start(all)
	s.holder = make(chan struct{})
	push := func(n int) error { return s.push(make([]byte, n), middle) }
	if err := push(limits.FairShare * 2); err != nil || all.N.Load() != limits.FairShare*2 {
		t.Errorf("%v, %d bytes counted", err, all.N.Load())
	}
	s.take(s.holder, false)
	all.Add(limits.MaxUnsent + 1)
	if err := push(limits.FairShare * 2); err == nil {
		t.Error("more than a share was taken")
	}
	if err := push(limits.FairShare / 2); err != nil {
		t.Error(err)
	}
	s.detach(s.holder)
	if n := all.N.Load(); n != limits.MaxUnsent+1 {
		t.Errorf("%d bytes are not given back", n-limits.MaxUnsent-1)
	}
	x := &modernPost{h: b.h, accepts: accept{events: true}, wake: make(chan struct{}, 1)}
	for i := range 10 {
		params := fmt.Appendf(nil, `{"uri":"u%d","x":"%s"}`, i, strings.Repeat("x", limits.FairShare/4))
		x.push("notifications/message", params)
	}
	if x.bytes > limits.FairShare || x.bytes == 0 {
		t.Errorf("a request has %d bytes", x.bytes)
	}
	x.close()
	if n := all.N.Load(); n != limits.MaxUnsent+1 {
		t.Errorf("%d bytes are not given back", n-limits.MaxUnsent-1)
	}
	k := &replayBuffer{all: all}
	stored := &stream{}
	stored.start(all)
	stored.holder = k.keep(stored, ofGet)
	for range 10 {
		_ = stored.push(make([]byte, limits.FairShare/4), heavy)
		stored.take(stored.holder, true)
	}
	if n := k.bytes.Load(); n > limits.FairShare+limits.FairShare/4 {
		t.Errorf("%d bytes are kept", n)
	}
	k.stop()
	all.Add(-limits.MaxUnsent - 1)
	if n := all.N.Load(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}

// TestPendingIsBounded: what waits for a client's next stream.
func TestPendingIsBounded(t *testing.T) {
	b := newBounded(t)
	s := b.h.Sessions.get(b.session(), "", "")
	for i := range 100 {
		s.Notify("notifications/resources/updated", fmt.Appendf(nil, `{"uri":"u%d","x":"%s"}`, i, strings.Repeat("x", maxPendingBytes/8)))
	}
	s.Notify("notifications/resources/updated", fmt.Appendf(nil, `{"uri":"long","x":"%s"}`, strings.Repeat("x", maxPendingBytes)))
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	for _, frame := range s.pending {
		size += len(frame)
	}
	if size > maxPendingBytes || len(s.pending) < 2 || !strings.Contains(s.pending[len(s.pending)-1], "u99") {
		t.Errorf("%d bytes in %d messages wait", size, len(s.pending))
	}
}

// TestSessionShare: a principal who begins sessions without end ends none of another's, whether
// they are idle or not, and loses its own to others.
func TestSessionShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBounded(t)
		open := func(who string) *session {
			return b.h.Sessions.open(t.Context(), b.f, upstream.Audience{Who: &access.Principal{ID: who}}, "")
		}
		there := func(s *session) bool { return b.h.Sessions.get(s.id, s.principal.Key(), "") != nil }
		alice := open("alice")
		first := open("bob")
		time.Sleep(time.Second)
		for range maxSessions - 2 {
			open("bob")
		}
		if open("bob") != nil {
			t.Error("bob has room for one more")
		}
		second := open("alice") // bob's refusal is not hers
		if second == nil || !there(alice) || there(first) {
			t.Fatal("alice has no room beside bob's")
		}
		time.Sleep(sessionYield + time.Second) // all are idle
		for range 3 * sessionFew {
			open("bob")
		}
		if !there(alice) || !there(second) {
			t.Error("bob ends sessions of alice")
		}
	})
}

// TestSessionsAreBounded: at the bound those idle longest end, and none in use.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBounded(t)
		first, second := b.session(), b.session()
		for range maxSessions - 2 {
			b.session()
		}
		refused := func() {
			t.Helper()
			w := b.do("POST", "", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), `"id":7,"error"`) || !strings.Contains(w.Body.String(), "too many sessions") {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		}
		refused()
		refused() // without looking
		time.Sleep(sessionYield + time.Second)
		var work sync.WaitGroup
		work.Go(func() { b.do("POST", second, strings.NewReader(callX)) }) // it lasts
		synctest.Wait()
		if b.do("POST", first, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); b.session() == "" {
			t.Error("there is no room, and nobody uses the others")
		}
		b.h.Sessions.Mu.Lock()
		n := len(b.h.Sessions.m)
		b.h.Sessions.Mu.Unlock()
		if b.h.Sessions.get(first, "", "") == nil || b.h.Sessions.get(second, "", "") == nil || n != maxSessions-sessionFew+1 {
			t.Errorf("%d sessions are left", n)
		}
		close(b.m.let)
		work.Wait()
	})
}
