package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// moods is a server whose calls take as long as their name says, or hang, and
// which can be told not to connect, or to take forever over it.
type moods struct {
	refuse  error
	hang    chan struct{} // connecting waits for it
	handler runtime.Handler
	release chan struct{} // what hangs in it ends then, Close as well
}

func (m *moods) dial(_ context.Context, _ proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	if m.hang != nil {
		<-m.hang
	}
	if m.refuse != nil {
		return nil, m.refuse
	}
	m.handler = h
	return runtime.NewClient(m, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{},"prompts":{}}`)}}), nil
}

func (m *moods) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch {
	case req.Method == "tools/list":
		return json.RawMessage(oneTool), nil
	case req.Method == "prompts/list":
		return nil, &runtime.Error{Code: runtime.CodeInternalError, Message: "no prompts today"}
	case strings.Contains(string(req.Params), "hang"):
		<-m.release
	case strings.Contains(string(req.Params), "refuse"):
		return nil, &runtime.Error{Code: -31000, Message: "no"}
	default:
		time.Sleep(100 * time.Millisecond)
	}
	return done, nil
}

func (*moods) Notify(context.Context, *runtime.Request) error { return nil }

func (m *moods) Close() error {
	if m.release != nil {
		<-m.release
	}
	return nil
}

// PID is one that no process has.
func (*moods) PID() int { return 1 << 30 }

func toolCall(arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","arguments":` + arguments + `}}`
}

// watched is an endpoint before one server of some mood.
func watched(t *testing.T, m *moods) *inMemory {
	t.Helper()
	p, err := proxy.NewAllowed(proxy.Options{Servers: []proxy.Server{{Name: "a", Transport: "stdio", Start: proxy.StartCached}}, Dial: m.dial, Pins: &lockfile.Guard{}})
	require.NoError(t, err)
	h := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := p.NewSSEHandler(proxy.SSEOptions{})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/sse", s)
	mux.Handle("/messages", s.Messages())
	t.Cleanup(func() {
		h.Close()
		s.Close()
		_ = p.Close()
	})
	return &inMemory{t: t, p: p, handler: mux}
}

// TestStatusOfABackend follows a server through its life.
func TestStatusOfABackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moods{hang: make(chan struct{})}
		w := watched(t, m)
		start := time.Now()
		now := func() proxy.BackendStatus {
			t.Helper()
			synctest.Wait()
			all := w.p.Status().Backends
			if len(all) != 1 {
				t.Fatalf("got %d backends", len(all))
			}
			return all[0]
		}
		want := proxy.BackendStatus{Name: "a", Transport: "stdio", Start: proxy.StartCached, Isolation: proxy.IsolationAuto, State: "idle", Connections: []proxy.ConnectionStatus{}}
		compare := func(when string) {
			t.Helper()
			if d := cmp.Diff(want, now()); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
		}
		compare("before anything")

		answer := make(chan string)
		call := func(arguments string) { answer <- w.post("", toolCall(arguments), "Accept", "application/json").all() }
		go call(`{}`)
		want.State = "connecting" // the call is nobody's before its name is known
		time.Sleep(time.Second)
		compare("while it connects")

		close(m.hang)
		<-answer
		since := start.Add(time.Second)
		want.State, want.Calls, want.LastCall = "ready", 1, since
		want.Connections = []proxy.ConnectionStatus{{Revision: "2025-11-25", PID: 1 << 30, Since: since, For: proxy.ForEverybody}}
		want.Catalog = &proxy.CatalogStatus{Tools: 1, Source: proxy.SourceLive, Missing: map[string]string{"prompts/list": "no prompts today (-32603)"}}
		got := now()
		want.Latency = got.Latency
		want.NextReap = got.NextReap
		compare("once it is connected")
		if l := got.Latency; l == nil || l.Calls != 1 || l.P50 < 97 || l.P50 > 103 || l.P99 != l.P50 {
			t.Errorf("latency: %+v", l)
		}
		if d := got.NextReap.Sub(since); d < time.Minute || d > 6*time.Minute {
			t.Errorf("it is to be closed after %v", d)
		}

		for range 99 {
			go call(`{}`)
			<-answer
		}
		go call(`{"refuse":1}`)
		if text := <-answer; !strings.Contains(text, "-31000") {
			t.Errorf("got %s", text)
		}
		got = now()
		if l := got.Latency; got.Calls != 101 || got.FailedCalls != 1 || l.Calls != 101 || l.P50 < 97 || l.P50 > 103 || l.P99 != l.P50 {
			t.Errorf("after 101 calls: %+v %+v", got, l)
		}

		m.refuse = errors.New("it is gone for good")
		m.handler.Closed(errors.New("killed"))
		lost := time.Now()
		if got = now(); got.State != "idle" || got.LastError == nil || !strings.Contains(got.LastError.Message, "killed") || !got.LastError.At.Equal(lost) || got.Restarts != 0 {
			t.Errorf("lost: %+v %+v", got, got.LastError)
		}
		go call(`{}`)
		<-answer
		if got = now(); got.State != "broken" || !strings.Contains(got.LastError.Message, "gone for good") || got.FailedCalls != 2 || got.Paused {
			t.Errorf("broken: %+v %+v", got, got.LastError)
		}
		m.refuse = nil
		go call(`{}`)
		<-answer
		if got = now(); got.State != "ready" || got.Restarts != 1 || got.LastError == nil {
			t.Errorf("back: %+v %+v", got, got.LastError)
		}

		for range 5 { // a storm
			m.handler.Closed(errors.New("killed"))
			synctest.Wait()
			go call(`{}`)
			<-answer
		}
		if got = now(); !got.Paused || got.State != "broken" || got.NextTry.IsZero() || time.Until(got.NextTry) > time.Minute {
			t.Errorf("in a storm: %+v", got)
		}
	})
}

// TestStatusWaitsForNobody: the server hangs in a call, in its end and in
// connecting, a client does not read, and the status is there.
func TestStatusWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moods{release: make(chan struct{})}
		w := watched(t, m)
		id := w.session("2025-11-25")
		w.listen(id, "") // nobody reads it
		w.sse()
		go w.post(id, toolCall(`{"hang":1}`))
		synctest.Wait()
		m.handler.Closed(errors.New("killed")) // its Close hangs now
		m.hang = m.release
		go w.post("", toolCall(`{}`))
		time.Sleep(time.Second)
		before := time.Now()
		s := w.p.Status()
		if time.Since(before) != 0 {
			t.Errorf("it took %v", time.Since(before))
		}
		if b := s.Backends[0]; b.InFlight != 2 || b.State != "connecting" {
			t.Errorf("got %+v", b)
		}
		close(m.release)
	})
}

// TestStatusOfClients has one come by each way.
func TestStatusOfClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := watched(t, &moods{release: release})
		start := time.Now()
		greet := func(name, version string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"version":"1.2","name":"` + name + `"}}}`
		}
		r := w.post("", greet("web", "2025-06-18"))
		id := r.head.Get("Mcp-Session-Id")
		_ = r.all()
		time.Sleep(time.Second)
		old := w.sse()
		old.send(greet(strings.Repeat("é", 60), "2024-11-05"))
		old.next()
		time.Sleep(time.Second)
		toProxy, in := io.Pipe()
		out, fromProxy := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		served := make(chan error, 1)
		go func() {
			served <- w.p.ServeStdio(context.Background(), toProxy, fromProxy)
			_ = fromProxy.Close()
		}()
		_, _ = io.WriteString(in, greet("host", "2025-11-25")+"\n")
		time.Sleep(time.Second)
		for range 3 {
			selfContained(w, "tools/list", "").all()
		}
		ctx := selfContained(w, "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`)
		w.listen(id, "")
		go w.post(id, toolCall(`{"hang":1}`))
		synctest.Wait()
		got := w.p.Status()
		want := proxy.ClientsStatus{
			Sessions: 3,
			Recent: []proxy.ClientStatus{
				{Transport: "http", Name: "web", Version: "1.2", Revision: "2025-06-18", Since: start, LastSeen: time.Now(), InFlight: 1, Streams: 1},
				{Transport: "stdio", Name: "host", Version: "1.2", Revision: "2025-11-25", Since: start.Add(2 * time.Second), LastSeen: start.Add(2 * time.Second)},
				{Transport: "sse", Name: strings.Repeat("é", 50) + "…", Version: "1.2", Revision: "2024-11-05", Since: start.Add(time.Second), LastSeen: start.Add(time.Second), Streams: 1},
			},
			Stateless: proxy.StatelessStatus{Requests: 5, InFlight: 1, LastSeen: time.Now()}, // the first is the greeting
		}
		if d := cmp.Diff(want, got.Clients); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if d := cmp.Diff([]proxy.BoundStatus{
			{Name: "parkedCalls", Max: 256},
			{Name: "bodyBytes", Max: 256 << 20},
			{Name: "unsentBytes", Max: 256 << 20, Used: got.Bounds[2].Used},
			{Name: "httpRequests", Used: 1, Max: 8192},
			{Name: "httpSessions", Used: 1, Max: 10000},
			{Name: "httpStreams", Used: 2, Max: 10000},
			{Name: "sseSessions", Used: 1, Max: 10000},
			{Name: "stdioRequests", Max: 1024},
		}, got.Bounds); d != "" {
			t.Errorf("bounds -want +got:\n%s", d)
		}
		close(release)
		ctx.hangUp()
		_ = in.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := w.p.Status().Clients; got.Sessions != 2 || got.Stateless.InFlight != 0 {
			t.Errorf("after two have gone: %+v", got)
		}
	})
}

// TestStatusListsFew of many sessions: those seen last.
func TestStatusListsFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watched(t, &moods{})
		for range 150 {
			w.session("2025-11-25")
			time.Sleep(time.Millisecond)
		}
		c := w.p.Status().Clients
		if c.Sessions != 150 || len(c.Recent) != 100 || !c.Recent[0].LastSeen.Equal(time.Now().Add(-time.Millisecond)) {
			t.Errorf("got %d, %d of them listed, the first of %v", c.Sessions, len(c.Recent), c.Recent[0].LastSeen)
		}
	})
}

// TestStatusJSON holds the names that programs read.
func TestStatusJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := proxy.Status{
		Ready: true,
		Backends: []proxy.BackendStatus{{
			Name: "a", Transport: "stdio", Start: "lazy", Isolation: "auto", State: "ready", Paused: true, NextTry: at, NextReap: at, Restarts: 1,
			LastError: &proxy.ErrorStatus{Message: "m", At: at}, Connections: []proxy.ConnectionStatus{{Revision: "2025-11-25", PID: 7, Since: at, For: "everybody"}},
			Usage: &proxy.UsageStatus{Processes: 2, RSS: 3, CPU: 0.5}, Calls: 9, FailedCalls: 1, InFlight: 2, LastCall: at,
			Latency: &proxy.LatencyStatus{Calls: 9, P50: 1.5, P99: 20},
			Catalog: &proxy.CatalogStatus{Tools: 1, Source: "stored", Verified: at, Digest: "ab", Missing: map[string]string{"prompts/list": "x"}},
		}, {Name: "b", Connections: []proxy.ConnectionStatus{}}},
		Clients: proxy.ClientsStatus{Sessions: 1, Recent: []proxy.ClientStatus{{Transport: "http", Name: "n", Version: "1", Revision: "2025-11-25", Since: at, LastSeen: at, InFlight: 1, Streams: 1}}},
		Bounds:  []proxy.BoundStatus{{Name: "httpSessions", Used: 1, Max: 2}},
	}
	const want = `{"ready":true,"backends":[{"name":"a","transport":"stdio","start":"lazy","isolation":"auto","state":"ready","paused":true,` +
		`"nextTry":"2026-01-02T03:04:05Z","nextReap":"2026-01-02T03:04:05Z","restarts":1,"lastError":{"message":"m","at":"2026-01-02T03:04:05Z"},` +
		`"connections":[{"revision":"2025-11-25","pid":7,"since":"2026-01-02T03:04:05Z","for":"everybody"}],"usage":{"processes":2,"rssBytes":3,"cpuSeconds":0.5},` +
		`"calls":9,"failedCalls":1,"inFlight":2,"lastCall":"2026-01-02T03:04:05Z","latency":{"calls":9,"p50Ms":1.5,"p99Ms":20},` +
		`"catalog":{"tools":1,"prompts":0,"resources":0,"resourceTemplates":0,"source":"stored","verified":"2026-01-02T03:04:05Z","digest":"ab","missing":{"prompts/list":"x"}}},` +
		`{"name":"b","start":"","isolation":"","state":"","paused":false,"restarts":0,"connections":[],"calls":0,"failedCalls":0,"inFlight":0}],` +
		`"clients":{"sessions":1,"recent":[{"front":"http","name":"n","version":"1","revision":"2025-11-25","since":"2026-01-02T03:04:05Z","lastSeen":"2026-01-02T03:04:05Z","inFlight":1,"streams":1}],` +
		`"stateless":{"requests":0,"inFlight":0}},"bounds":[{"name":"httpSessions","used":1,"max":2}]}`
	got, err := json.Marshal(s)
	require.NoError(t, err)
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}
