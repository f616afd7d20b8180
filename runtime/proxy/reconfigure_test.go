package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// fleet dials servers that may be replaced by others, and notes which
// connections are open.
type fleet struct {
	plain bool

	mu      sync.Mutex // guards what follows
	servers map[string]*runtimetest.Server
	dialled map[string]int
	open    map[*piped]string
}

func newFleet(servers map[string]*runtimetest.Server) *fleet {
	return &fleet{servers: servers, dialled: map[string]int{}, open: map[*piped]string{}}
}

// named gives a server with an echo that says who it is, and some more tools.
func named(who string, more ...runtimetest.Tool) *runtimetest.Server {
	s := runtimetest.New()
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"who","inputSchema":{"type":"object"}}`),
		Call: func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return runtimetest.Text(who), nil
		},
	})
	s.Tools = append(s.Tools, more...)
	return s
}

func (f *fleet) put(name string, s *runtimetest.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[name] = s
}

func (f *fleet) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	f.mu.Lock()
	b := &backends{servers: maps.Clone(f.servers), plain: f.plain}
	f.dialled[key.Server]++
	f.mu.Unlock()
	c, err := b.dial(ctx, key, h)
	if err != nil {
		return nil, err
	}
	t := b.open[0]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[t] = key.Server
	go func() { // ends with the connection, which the proxy closes
		<-t.done
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, t)
	}()
	return c, nil
}

// dials is how often a server was dialled.
func (f *fleet) dials(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dialled[name]
}

// opened is how many connections to a server are open.
func (f *fleet) opened(name string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range f.open {
		if of == name {
			n++
		}
	}
	return n
}

func (f *fleet) start(t *testing.T, o proxy.Options) *proxy.Proxy {
	t.Helper()
	o.Dial = f.dial
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// digests gives servers with a digest, as in "a=1 b=2".
func digests(words string) (out []proxy.Server) {
	for word := range strings.FieldsSeq(words) {
		name, digest, _ := strings.Cut(word, "=")
		out = append(out, proxy.Server{Name: name, Digest: digest})
	}
	return out
}

func reconfigure(t *testing.T, p *proxy.Proxy, servers []proxy.Server) proxy.Changes {
	t.Helper()
	c, err := p.Reconfigure(servers)
	require.NoError(t, err)
	return c
}

// listChanges counts what a client is told of changed lists of tools.
func (c *client) listChanges() *atomic.Int64 {
	n := new(atomic.Int64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note = func(line string) {
		if strings.Contains(line, "tools/list_changed") {
			n.Add(1)
		}
	}
	return n
}

// TestReconfigure: what is added is there, what is removed is gone, what is
// replaced is another, and what stays is not touched. Clients are told once.
func TestReconfigure(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a"), "b": named("b"), "c": named("c"), "d": named("d")})
	p := f.start(t, proxy.Options{Servers: digests("a=1 b=1 c=1")})
	c := attach(t, p)
	c.result("tools/list", `{}`)
	told := c.listChanges()
	f.put("b", named("another b", runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"new","inputSchema":{"type":"object"}}`),
		Call: func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return runtimetest.Text("it is new"), nil
		},
	}))
	got := reconfigure(t, p, digests("d=1 a=1 b=2"))
	if diff := cmp.Diff(proxy.Changes{Added: []string{"d"}, Removed: []string{"c"}, Replaced: []string{"b"}}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for call, want := range map[string]string{"a__who": `"a"`, "b__who": "another b", "d__who": `"d"`, "c__who": "unknown tool: c__who"} {
		if got := c.call("tools/call", `{"name":"`+call+`","arguments":{}}`); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
	wait.Until(t, "the client is told", func() bool { return told.Load() > 0 })
	tools := names(t, c.result("tools/list", `{}`), "tools")
	for _, want := range []string{"d__who", "a__who", "b__new"} {
		if !slices.Contains(tools, want) {
			t.Errorf("%s is missing in %v", want, tools)
		}
	}
	if slices.Contains(tools, "c__who") || slices.Index(tools, "d__who") > slices.Index(tools, "a__who") {
		t.Errorf("got %v", tools)
	}
	wait.Until(t, "the old connections end", func() bool { return f.opened("c") == 0 && f.opened("b") == 1 })
	if f.dials("a") != 1 || f.dials("b") != 2 || f.dials("c") != 1 || f.dials("d") != 1 {
		t.Errorf("dialled %v", f.dialled)
	}
	c.result("ping", `{}`)
	if n := told.Load(); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	if got := reconfigure(t, p, digests("d=1 a=1 b=2")); !got.None() {
		t.Errorf("the same again: %v", got)
	}
}

// TestReconfigureTellsNothingNew: a server that is replaced by one that offers
// the same is no news.
func TestReconfigureTellsNothingNew(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a"), "b": named("b")})
	p := f.start(t, proxy.Options{Servers: digests("a=1 b=1")})
	c := attach(t, p)
	before := c.result("tools/list", `{}`)
	told := c.listChanges()
	reconfigure(t, p, digests("a=1 b=2"))
	if after := c.result("tools/list", `{}`); after != before {
		t.Errorf("got %s, want %s", after, before)
	}
	wait.Until(t, "it is connected and the old one ended", func() bool { return f.dials("b") == 2 && f.opened("b") == 1 })
	c.result("ping", `{}`)
	if told.Load() != 0 {
		t.Error("the client was told of a list that is the same")
	}
}

// TestReconfigureFaults: nothing happens for servers that cannot be told apart,
// and after the end.
func TestReconfigureFaults(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a")})
	p := f.start(t, proxy.Options{Servers: digests("a=1")})
	c := attach(t, p)
	for _, servers := range [][]proxy.Server{digests("a=1 a=2"), {{}}} {
		if _, err := p.Reconfigure(servers); err == nil || !strings.Contains(err.Error(), "empty or repeated") {
			t.Errorf("%v: got %v", servers, err)
		}
	}
	if got := c.result("tools/call", `{"name":"a__who"}`); !strings.Contains(got, `"a"`) {
		t.Errorf("got %s", got)
	}
	c.end()
	_ = p.Close()
	if _, err := p.Reconfigure(digests("a=1 b=1")); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("got %v", err)
	}
}

// holding is a tool that answers when it is told to.
func holding(begun chan<- struct{}, let <-chan struct{}) runtimetest.Tool {
	return runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"hold","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, _ *runtimetest.Call) (json.RawMessage, error) {
			begun <- struct{}{}
			select {
			case <-let:
				return runtimetest.Text("held"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	}
}

// TestReconfigureDrains: calls under way to a server that is replaced or removed
// end as they would have, new ones go elsewhere meanwhile, and then its
// connection is closed.
func TestReconfigureDrains(t *testing.T) {
	for _, plain := range []bool{false, true} {
		for _, to := range []string{"a=2", "b=1"} {
			t.Run(fmt.Sprintf("plain %v to %s", plain, to), func(t *testing.T) {
				begun, let := make(chan struct{}, 2), make(chan struct{})
				f := newFleet(map[string]*runtimetest.Server{"a": named("old", holding(begun, let)), "b": named("b")})
				f.plain = plain
				p := f.start(t, proxy.Options{Servers: digests("a=1")})
				c, other := attach(t, p), attach(t, p)
				c.result("tools/call", `{"name":"a__who"}`)
				first := c.begin(`"1"`, "tools/call", `{"name":"a__hold"}`)
				second := other.begin(`"2"`, "tools/call", `{"name":"a__hold"}`)
				<-begun
				<-begun
				f.put("a", named("new"))
				reconfigure(t, p, digests(to))
				want := map[string]string{"a=2": "new", "b=1": "unknown tool"}[to]
				if got := c.call("tools/call", `{"name":"a__who"}`); !strings.Contains(got, want) {
					t.Errorf("got %s, want %s", got, want)
				}
				if f.opened("a") != map[string]int{"a=2": 2, "b=1": 1}[to] {
					t.Errorf("%d connections are open", f.opened("a"))
				}
				// A call that is given up is cancelled at the old server.
				other.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"2"}}`)
				close(let)
				if got := <-first; !strings.Contains(got, "held") {
					t.Errorf("got %s", got)
				}
				wait.Until(t, "the old connection ends", func() bool { return f.opened("a") == map[string]int{"a=2": 1, "b=1": 0}[to] })
				select {
				case got := <-second:
					if !strings.Contains(got, "held") { // it may have been too late to cancel it
						t.Errorf("got %s", got)
					}
				default:
				}
			})
		}
	}
}

// TestReconfigureDrainIsBounded: a call that goes on and on is ended, and says
// why.
func TestReconfigureDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 1)
		b := newPool(map[string]*runtimetest.Server{"a": named("old", holding(begun, nil))})
		b.plain = true // the other way needs real time
		p := b.serve(t, proxy.Options{Servers: digests("a=1")})
		c := attach(t, p)
		answer := c.begin(`"1"`, "tools/call", `{"name":"a__hold"}`)
		<-begun
		at := time.Now()
		reconfigure(t, p, nil)
		got := <-answer
		if after := time.Since(at); after < 29*time.Second || after > 31*time.Second {
			t.Errorf("it was ended after %v", after)
		}
		if !strings.Contains(got, "its entry in the configuration has changed") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("got %s", got)
		}
		c.end()
		_ = p.Close()
	})
}

// TestReconfigureSparesOthers: many changes of one server's entry disturb no call
// to another, and every call to the former is answered by one of its servers or
// refused.
func TestReconfigureSparesOthers(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a"), "b": named("b")})
	p := f.start(t, proxy.Options{Servers: digests("a=1 b=1")})
	var wg sync.WaitGroup
	end := make(chan struct{})
	var calls, answered, unknown atomic.Int64
	for range 4 {
		steady, busy := attach(t, p), attach(t, p)
		steady.listChanges()
		busy.listChanges()
		steady.result("tools/list", `{}`)
		loop := func(do func()) {
			wg.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						do()
					}
				}
			})
		}
		loop(func() {
			if got := steady.call("tools/call", `{"name":"a__who","arguments":{}}`); !strings.Contains(got, `"text":"a"`) {
				t.Errorf("got %s", got)
			}
			calls.Add(1)
		})
		loop(func() {
			switch got := busy.call("tools/call", `{"name":"b__who","arguments":{}}`); {
			case strings.Contains(got, `"text":"b"`):
				answered.Add(1)
			case strings.Contains(got, "unknown tool: b__who"):
				unknown.Add(1)
			default:
				t.Errorf("got %s", got)
			}
		})
		loop(func() { busy.call("tools/list", `{}`) })
	}
	for i := range 50 {
		words := fmt.Sprintf("a=1 b=%d", i)
		if i%5 == 4 {
			words = "a=1"
		}
		reconfigure(t, p, digests(words))
		n := calls.Load()
		wait.Until(t, "calls go on", func() bool { return calls.Load() > n+8 })
	}
	reconfigure(t, p, digests("a=1 b=last"))
	wait.Until(t, "b is back", func() bool { n := answered.Load(); time.Sleep(5 * time.Millisecond); return answered.Load() > n })
	close(end)
	wg.Wait()
	if f.dials("a") != 1 {
		t.Errorf("a was dialled %d times", f.dials("a"))
	}
	wait.Until(t, "old connections end", func() bool { return f.opened("b") <= 1 && f.opened("a") == 1 })
	if unknown.Load() == 0 || answered.Load() == 0 {
		t.Errorf("%d calls to b answered, %d refused: the test tests nothing", answered.Load(), unknown.Load())
	}
}

// TestReconfigureSettings: settings that need no other connection take effect on
// the one there is.
func TestReconfigureSettings(t *testing.T) {
	begun := make(chan struct{}, 10)
	f := newFleet(map[string]*runtimetest.Server{"a": named("a", holding(begun, nil))})
	set := proxy.Server{Name: "a", Digest: "1", Connection: "same"}
	p := f.start(t, proxy.Options{Servers: []proxy.Server{set}})
	c := attach(t, p)
	c.result("tools/call", `{"name":"a__who"}`)
	set.Digest, set.RequestTimeout, set.WrapURIs, set.Start = "2", 100*time.Millisecond, true, proxy.StartCached
	if got := reconfigure(t, p, []proxy.Server{set}); !slices.Equal(got.Adjusted, []string{"a"}) {
		t.Errorf("got %v", got)
	}
	if got := c.result("tools/call", `{"name":"a__hold"}`); !strings.Contains(got, `"kind":"timeout"`) {
		t.Errorf("got %s", got)
	}
	if got := c.result("resources/list", `{}`); !strings.Contains(got, `mcpctl+fake://a/`) {
		t.Errorf("got %s", got)
	}
	set.Isolation, set.RequestTimeout = proxy.IsolationSession, 0
	reconfigure(t, p, []proxy.Server{set})
	if f.dials("a") != 1 {
		t.Errorf("dialled %d times", f.dials("a"))
	}
	c.result("tools/call", `{"name":"a__who"}`) // over a connection of its own now
	if f.dials("a") != 2 {
		t.Errorf("dialled %d times", f.dials("a"))
	}
}

// TestReconfigureConnecting: whoever waits for a server to connect that is
// replaced or removed meanwhile does not wait for it any longer.
func TestReconfigureConnecting(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("new")})
	stuck := make(chan struct{}, 2)
	var first atomic.Bool
	p, err := proxy.NewAllowed(proxy.Options{Servers: digests("a=1"), Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		if first.CompareAndSwap(false, true) {
			stuck <- struct{}{}
			<-ctx.Done()
			return nil, errors.New("given up")
		}
		return f.dial(ctx, key, h)
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c := attach(t, p)
	answer := c.begin(`"1"`, "tools/call", `{"name":"a__who"}`)
	<-stuck
	reconfigure(t, p, digests("a=2"))
	if got := <-answer; !strings.Contains(got, `"text":"new"`) {
		t.Errorf("got %s", got)
	}
}

// TestReconfigureNames: names and URIs that clients know go on leading where they
// led, though the lists have others.
func TestReconfigureNames(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"fs": named("fs"), "FS": named("FS")})
	p := f.start(t, proxy.Options{Servers: digests("fs=1")})
	c := attach(t, p)
	c.result("tools/list", `{}`)
	c.listChanges()
	if got := c.result("resources/read", `{"uri":"fake://note"}`); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	reconfigure(t, p, digests("FS=1 fs=1"))
	tools := names(t, c.result("tools/list", `{}`), "tools")
	if slices.Contains(tools, "fs__who") {
		t.Errorf("got %v", tools) // or the test tests nothing
	}
	for range 2 {
		if got := c.call("tools/call", `{"name":"fs__who"}`); !strings.Contains(got, `"text":"fs"`) {
			t.Errorf("got %s", got)
		}
	}
	for _, name := range tools {
		if strings.HasSuffix(name, "_who") {
			if got, want := c.result("tools/call", `{"name":"`+name+`"}`), strings.SplitN(name, "__", 2)[0]; !strings.Contains(got, `"text":"`+want+`"`) {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
	reconfigure(t, p, digests("fs=1"))
	for _, name := range append(tools, "fs__who") {
		if strings.HasPrefix(name, "fs__") && strings.HasSuffix(name, "who") {
			if got := c.call("tools/call", `{"name":"`+name+`"}`); !strings.Contains(got, `"text":"fs"`) {
				t.Errorf("%s: got %s", name, got)
			}
		}
	}
	// A URI in the form that it had while there were two.
	if got := c.call("resources/read", `{"uri":"mcpctl+fake://fs///note"}`); !strings.Contains(got, "hello") {
		t.Errorf("got %s", got)
	}
	if f.dials("fs") != 1 {
		t.Errorf("fs was dialled %d times", f.dials("fs"))
	}
}

// TestReconfigureSubscriptions: they follow a server that is replaced, whose
// changes in between may have been missed, and end with one that is removed.
func TestReconfigureSubscriptions(t *testing.T) {
	old, next := runtimetest.Full("2025-11-25"), runtimetest.Full("2025-11-25")
	f := newFleet(map[string]*runtimetest.Server{"a": old, "b": named("b")})
	p := f.start(t, proxy.Options{Servers: digests("a=1 b=1")})
	c := attach(t, p)
	uri := "mcpctl+fake://a///note"
	c.result("resources/subscribe", `{"uri":"`+uri+`"}`)
	f.put("a", next)
	reconfigure(t, p, digests("a=2 b=1"))
	if got := <-c.notes; !strings.Contains(got, "notifications/resources/updated") || !strings.Contains(got, uri) {
		t.Errorf("got %s", got)
	}
	next.Touch("fake://note")
	if got := <-c.notes; !strings.Contains(got, "notifications/resources/updated") || !strings.Contains(got, uri) {
		t.Errorf("got %s", got)
	}
	old.Touch("fake://note")
	reconfigure(t, p, digests("b=1"))
	wait.Until(t, "the connections end", func() bool { return f.opened("a") == 0 })
	if got := c.call("resources/subscribe", `{"uri":"`+uri+`"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("got %s", got)
	}
	again := runtimetest.Full("2025-11-25")
	f.put("a", again)
	reconfigure(t, p, digests("b=1 a=3"))
	c.result("resources/subscribe", `{"uri":"`+uri+`"}`)
	again.Touch("fake://note")
	if got := <-c.notes; !strings.Contains(got, "notifications/resources/updated") || !strings.Contains(got, uri) {
		t.Errorf("got %s", got)
	}
}

// TestReconfigureStates: what a client keeps for a server of the stateless era is
// not given to the one that has come in its place; a call of the handshake era
// that waits for the client goes on.
func TestReconfigureStates(t *testing.T) {
	for era, s := range eras() {
		w := serveJuly(t, proxy.Options{Servers: digests("s=1")}, one(s))
		first := w.call("tools/call", `{"name":"ask_form"}`, everything).asks()
		retry := func() *outcome {
			answers := `{}`
			for key := range first.InputRequests {
				answers = fmt.Sprintf(`{%q:{"action":"decline"}}`, key)
			}
			return w.call("tools/call", fmt.Sprintf(`{"name":"ask_form","inputResponses":%s,"requestState":%q}`, answers, first.RequestState), everything)
		}
		adjusted := digests("s=2")
		adjusted[0].Connection = "1" // which the digest was
		reconfigure(t, w.p, adjusted)
		if r := retry(); r.Error != nil || !strings.Contains(string(r.Result), "decline") {
			t.Errorf("%s, adjusted: got %s", era, r.raw)
		}
		first = w.call("tools/call", `{"name":"ask_form"}`, everything).asks()
		reconfigure(t, w.p, digests("s=3"))
		w.call("tools/list", `{}`, `{}`)
		r := retry()
		switch {
		case era == "legacy" && (r.Error != nil || !strings.Contains(string(r.Result), "decline")):
			t.Errorf("%s: got %s", era, r.raw)
		case era == "modern" && (r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, "configured before")):
			t.Errorf("%s: got %s", era, r.raw)
		}
		third := w.call("tools/call", `{"name":"ask_form"}`, everything)
		if first = third.asks(); first.RequestState == "" {
			t.Errorf("%s: got %s", era, third.raw)
		}
		reconfigure(t, w.p, nil)
		if r := retry(); era == "modern" && (r.Error == nil || !strings.Contains(r.Error.Message, "unknown tool")) || era == "legacy" && !strings.Contains(r.raw, "decline") {
			t.Errorf("%s, removed: got %s", era, r.raw)
		}
	}
}

// TestReconfigureTasks: a task of a server that has gone is unknown.
func TestReconfigureTasks(t *testing.T) {
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		synctest.Test(t, func(t *testing.T) {
			s, tasks := taskServer([]string{version}, "required")
			defer tasks.Close()
			p := tasksEndpoint(t, map[string]*runtimetest.Server{"x": s, "y": runtimetest.New()}, proxy.Options{Servers: digests("x=1 y=1")})
			c := attach(t, p)
			defer func() { c.end(); _ = p.Close() }()
			list := c.result("tools/list", modern(`{}`, ``))
			name := list[strings.Index(list, `"name":"x`)+8:]
			name = name[:strings.IndexByte(name, '"')]
			id := member(t, c.result("tools/call", modern(takesTasks, `,"name":"`+name+`","arguments":{}`)), "taskId")
			get := func() string { return c.call("tasks/get", modern(takesTasks, `,"taskId":"`+id+`"`)) }
			if got := get(); !strings.Contains(got, `"status":"working"`) {
				t.Errorf("got %s", got)
			}
			reconfigure(t, p, digests("x=2 y=1")) // the fake server has the task still, whoever asks
			if got := get(); !strings.Contains(got, `"status":"working"`) {
				t.Errorf("got %s", got)
			}
			reconfigure(t, p, digests("y=1"))
			if got := get(); !strings.Contains(got, "unknown task") {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestReconfigureEager: a server that is to be connected always is, as soon as it
// is configured so.
func TestReconfigureEager(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a"), "b": named("b")})
	set := digests("a=1 b=1")
	set[0].Connection, set[0].Start = "same", proxy.StartCached
	p := f.start(t, proxy.Options{Servers: set[:1]})
	c := attach(t, p)
	c.result("ping", `{}`)
	if f.dials("a") != 0 {
		t.Error("connected before it was needed")
	}
	set[0].Start, set[0].Digest, set[1].Start = proxy.StartEager, "2", proxy.StartEager
	reconfigure(t, p, set)
	wait.Until(t, "both are connected", func() bool { return f.opened("a") == 1 && f.opened("b") == 1 })
}

// TestReconfigureKeepsWhatWasOffered: what a server offered stays listed though the
// one in its place cannot be connected; a call says so.
func TestReconfigureKeepsWhatWasOffered(t *testing.T) {
	f := newFleet(map[string]*runtimetest.Server{"a": named("a"), "b": named("b")})
	p := f.start(t, proxy.Options{Servers: digests("a=1 b=1")})
	c := attach(t, p)
	before := names(t, c.result("tools/list", `{}`), "tools")
	f.put("b", nil)
	reconfigure(t, p, digests("a=1 b=2"))
	if after := names(t, c.result("tools/list", `{}`), "tools"); !slices.Equal(after, before) {
		t.Errorf("got %v, want %v", after, before)
	}
	if got := c.result("tools/call", `{"name":"b__who"}`); !strings.Contains(got, "no such server") {
		t.Errorf("got %s", got)
	}
}
