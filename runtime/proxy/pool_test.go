package proxy_test

import (
	"bytes"
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

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// pool dials fake servers of any era and keeps a record of it.
type pool struct {
	servers map[string]*runtimetest.Server
	plain   bool // no call takes the quick way
	refuse  func(proxy.Key) bool
	listen  bool // what modern servers tell outside calls is asked for

	mu    sync.Mutex
	keys  []proxy.Key
	alive map[*piped]proxy.Key
}

func newPool(servers map[string]*runtimetest.Server) *pool {
	return &pool{servers: servers, alive: map[*piped]proxy.Key{}}
}

func (b *pool) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	b.mu.Lock()
	b.keys = append(b.keys, key)
	b.mu.Unlock()
	if b.refuse != nil && b.refuse(key) {
		return nil, &runtime.ConnectError{Target: key.Server, Err: errors.New("it runs already")}
	}
	c, err := proxy.ConnectAs(ctx, key, h, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}}, func(h runtime.Handler) (runtime.Transport, error) {
		if b.plain {
			return b.servers[key.Server].Connect(h), nil
		}
		st := b.servers[key.Server].Streams()
		t := newPiped(st, h)
		t.st = st
		t.read(st)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.alive[t] = key
		go func() {
			<-t.done
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.alive, t)
		}()
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	if l, ok := c.Transport().(interface{ Listen(context.Context) }); ok && b.listen {
		l.Listen(context.Background()) // ends with the transport
	}
	return c, nil
}

// dialled gives the keys of all connections ever made.
func (b *pool) dialled() []proxy.Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.keys)
}

// kill ends the server behind a connection.
func (b *pool) kill(which func(proxy.Key) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t, key := range b.alive {
		if which(key) {
			go func() { _ = t.st.Close() }()
		}
	}
}

// living counts the connections whose key matches.
func (b *pool) living(which func(proxy.Key) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, key := range b.alive {
		if which(key) {
			n++
		}
	}
	return n
}

func own(k proxy.Key) bool { return k.Scope != "" }

// serve makes a proxy over the pool.
func (b *pool) serve(t *testing.T, o proxy.Options) *proxy.Proxy {
	t.Helper()
	o.Dial = b.dial
	if o.Servers == nil {
		o.Servers = proxy.Named(slices.Sorted(maps.Keys(b.servers))...)
	}
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// message is one that a client gets.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// hello shakes hands and answers each question with its own name, the question
// itself, and what answer adds to it.
func (c *client) hello(version, capabilities, name string) (asked *atomic.Int64) {
	c.t.Helper()
	asked = new(atomic.Int64)
	c.mu.Lock() // before anything asks
	c.answer = func(m message) string {
		asked.Add(1)
		return fmt.Sprintf(`{"action":"accept","content":{"who":%q},"roots":[{"uri":"file:///%s"}],"x":%s}`, name, name, orNull(m.Params))
	}
	c.mu.Unlock()
	c.result("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":%q,"version":"1"}}`, version, capabilities, name))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return asked
}

func orNull(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	return string(raw)
}

const canElicit = `{"elicitation":{"form":{}}}`

// asking is a server whose tool "ask" asks the client, and whose tool "wait"
// waits for the test.
func asking() (s *runtimetest.Server, started chan string, release chan struct{}) {
	s = runtimetest.New()
	started, release = make(chan string, 100), make(chan struct{})
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"wait","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			started <- string(c.Arguments)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return runtimetest.Text("waited"), nil
		},
	}, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"elicit","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			res, err := c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"Who?","requestedSchema":{"type":"object","properties":{"who":{"type":"string"}}}}`))
			if err != nil {
				return runtimetest.Text("error: " + err.Error()), nil //nolint:nilerr // the client's error is the result
			}
			return runtimetest.Text(string(res)), nil
		},
	}, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"say","inputSchema":{"type":"object"}}`),
		Call: func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var args struct{ Level, Text string }
			_ = json.Unmarshal(c.Arguments, &args)
			c.Notify("notifications/message", json.RawMessage(fmt.Sprintf(`{"level":%q,"data":%q}`, args.Level, args.Text)))
			return runtimetest.Text("said"), nil
		},
	})
	return s, started, release
}

// TestQuestionsSplitTheSharedConnection: clients share one until the server
// asks; from then on each that can answer has its own, with exactly what it has
// declared, and the others share one that declares nothing.
func TestQuestionsSplitTheSharedConnection(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c1, c2, c3, c4 := attach(t, p), attach(t, p), attach(t, p), attach(t, p)
	n1, n2 := c1.hello("2025-11-25", canElicit, "one"), c2.hello("2025-06-18", `{"elicitation":{},"roots":{"listChanged":true}}`, "two")
	n3 := c3.hello("2025-11-25", `{}`, "three")
	c4.hello("2025-11-25", `{}`, "four")
	for _, c := range []*client{c1, c2, c3} {
		c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	}
	if keys := b.dialled(); len(keys) != 1 || keys[0].Scope != "" || !strings.Contains(keys[0].Capabilities, `"url":{}`) || !strings.Contains(keys[0].Capabilities, `"sampling"`) {
		t.Fatalf("before a question: got connections %v", keys)
	}
	if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"one\"`) {
		t.Errorf("the first question: got %s", got)
	}
	if n := len(b.dialled()); n != 1 {
		t.Errorf("the first question was asked over %d connections", n)
	}
	for range 2 {
		if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"one\"`) {
			t.Errorf("one: got %s", got)
		}
		if got := c2.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"two\"`) {
			t.Errorf("two: got %s", got)
		}
		for _, c := range []*client{c3, c4} {
			if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `error`) || strings.Contains(got, `who`) {
				t.Errorf("a client that cannot answer: got %s", got)
			}
		}
	}
	if n1.Load() != 3 || n2.Load() != 2 || n3.Load() != 0 {
		t.Errorf("asked %d, %d and %d times, want 3, 2 and 0", n1.Load(), n2.Load(), n3.Load())
	}
	keys := b.dialled()[1:]
	if len(keys) != 3 || keys[0].Capabilities != `{"elicitation":{"form":{}}}` || !strings.Contains(keys[1].Capabilities, `"roots"`) || strings.Contains(keys[1].Capabilities, "sampling") || keys[2].Capabilities != `{}` || own(keys[2]) {
		t.Errorf("after the question: got connections %v", keys)
	}
	if keys[0].Scope == keys[1].Scope {
		t.Error("two sessions have one connection")
	}
	c1.end()
	c2.end()
	wait.Until(t, "connections of sessions that have ended are closed", func() bool { return b.living(own) == 0 })
}

// TestOnlyClientKeepsTheSharedConnection: the server's state for it is there.
func TestOnlyClientKeepsTheSharedConnection(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c1 := attach(t, p)
	c1.hello("2025-11-25", canElicit, "one")
	ask := func(c *client, name string) {
		t.Helper()
		if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"`+name+`\"`) {
			t.Errorf("got %s", got)
		}
	}
	for range 3 {
		ask(c1, "one")
	}
	if n := len(b.dialled()); n != 1 {
		t.Errorf("the only client has %d connections", n)
	}
	c2, c3 := attach(t, p), attach(t, p)
	c2.hello("2025-11-25", canElicit, "two")
	c3.hello("2025-11-25", `{}`, "three")
	for range 2 {
		ask(c2, "two")
		ask(c1, "one")
		c3.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	}
	if keys := b.dialled(); len(keys) != 3 || !own(keys[1]) || own(keys[2]) || keys[2].Capabilities != `{}` {
		t.Errorf("got connections %v", keys)
	}
	c1.end() // its state is not for the next one
	c4 := attach(t, p)
	c4.hello("2025-11-25", canElicit, "four")
	ask(c4, "four")
	if keys := b.dialled(); len(keys) != 4 || !own(keys[3]) {
		t.Errorf("got connections %v", keys)
	}
}

// eventually waits for what happens in the background.
// TestQuestionThatCouldBeSeveralClients: it is shown to nobody; the next one has
// its own connection.
func TestQuestionThatCouldBeSeveralClients(t *testing.T) {
	for _, slow := range []bool{false, true} {
		s, started, release := asking()
		b := newPool(map[string]*runtimetest.Server{"a": s})
		p := b.serve(t, proxy.Options{})
		c1, c2 := attach(t, p), attach(t, p)
		n1, n2 := c1.hello("2025-11-25", canElicit, "one"), c2.hello("2025-11-25", canElicit, "two")
		if !slow {
			c1.result("tools/list", `{}`) // connects: the calls go the quick way
		}
		waiting := c2.begin(`"w"`, "tools/call", `{"name":"a__wait","arguments":{}}`)
		<-started
		if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, "cannot be told to belong to one") {
			t.Errorf("got %s", got)
		}
		if n1.Load()+n2.Load() != 0 {
			t.Error("somebody was asked")
		}
		if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"one\"`) {
			t.Errorf("got %s", got)
		}
		close(release)
		<-waiting
		if n2.Load() != 0 {
			t.Error("the other client was asked")
		}
	}
}

// TestQuestionsOutsideCalls: roots are the configured ones, the rest is refused;
// neither makes the server one that asks.
func TestQuestionsOutsideCalls(t *testing.T) {
	s, _, _ := asking()
	s.Faults.Ask = []string{"roots/list", "sampling/createMessage"}
	answers := make(chan string, 10)
	s.Seen = func(frame []byte) {
		if bytes.Contains(frame, []byte(`"fake-`)) {
			answers <- string(frame)
		}
	}
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{Roots: json.RawMessage(`[{"uri":"file:///srv"}]`)})
	c := attach(t, p)
	n := c.hello("2025-11-25", `{"roots":{},"sampling":{}}`, "one")
	c.result("tools/list", `{}`)
	var got []string
	for range 2 {
		got = append(got, <-answers)
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, `"result":{"roots":[{"uri":"file:///srv"}]}`) || !strings.Contains(all, `"code":-32600`) {
		t.Errorf("got %s", all)
	}
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	if n.Load() != 0 || len(b.dialled()) != 1 {
		t.Errorf("asked %d times, %d connections", n.Load(), len(b.dialled()))
	}
}

// TestRootsOfClientWithoutThem: a server that asks while a client calls that has
// declared none gets those configured.
func TestRootsOfClientWithoutThem(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	c := attach(t, b.serve(t, proxy.Options{Roots: json.RawMessage(`[{"uri":"file:///srv"}]`)}))
	n := c.hello("2025-11-25", canElicit, "one")
	if got := c.result("tools/call", `{"name":"a__ask","arguments":{"method":"roots/list"}}`); !strings.Contains(got, "file:///srv") || n.Load() != 0 {
		t.Errorf("got %s, asked %d times", got, n.Load())
	}
}

// TestOwnConnectionAsksItsClient also outside calls, and learns of new roots.
func TestOwnConnectionAsksItsClient(t *testing.T) {
	s, _, _ := asking()
	s.Faults.Ask = []string{"roots/list"}
	answers, changed := make(chan string, 10), make(chan struct{}, 10)
	s.Seen = func(frame []byte) {
		switch {
		case bytes.Contains(frame, []byte(`"fake-`)):
			answers <- string(frame)
		case bytes.Contains(frame, []byte("roots/list_changed")):
			changed <- struct{}{}
		}
	}
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{Servers: []proxy.Server{{Name: "a", Isolation: proxy.IsolationSession}}})
	c, other := attach(t, p), attach(t, p)
	c.hello("2025-11-25", `{"roots":{"listChanged":true}}`, "one")
	n := other.hello("2025-11-25", `{}`, "two")
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	if both := <-answers + <-answers; !strings.Contains(both, `"roots":[]`) || !strings.Contains(both, `file:///one`) {
		t.Errorf("got %s", both)
	}
	other.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	other.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	<-changed
	other.result("ping", `{}`)
	if len(changed) != 0 || n.Load() != 0 {
		t.Errorf("a client without roots: %d changes, %d questions", len(changed), n.Load())
	}
	if n := b.living(own); n != 2 {
		t.Errorf("%d connections for two sessions", n)
	}
}

// TestOnlyClientThereWillBe: a server is told what it can be asked, and asks and
// tells it also outside calls.
func TestOnlyClientThereWillBe(t *testing.T) {
	s := runtimetest.Full("2025-11-25")
	s.Faults.Ask = []string{"roots/list"}
	answers, changed := make(chan string, 10), make(chan struct{}, 10)
	s.Seen = func(frame []byte) {
		switch {
		case bytes.Contains(frame, []byte(`"fake-`)):
			answers <- string(frame)
		case bytes.Contains(frame, []byte("roots/list_changed")):
			changed <- struct{}{}
		}
	}
	b := newPool(map[string]*runtimetest.Server{"a": s})
	c := attach(t, b.serve(t, proxy.Options{SingleClient: true}))
	c.hello("2025-11-25", `{"roots":{"listChanged":true}}`, "one")
	c.result("tools/list", `{}`)
	if got := <-answers; !strings.Contains(got, `file:///one`) {
		t.Errorf("got %s", got)
	}
	if keys := b.dialled(); len(keys) != 1 || keys[0].Capabilities != `{"roots":{"listChanged":true}}` {
		t.Errorf("got connections %v", keys)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	<-changed
	s.AskOutside(t.Context(), "sampling/createMessage")
	if got := <-answers; !strings.Contains(got, `"code":-32600`) {
		t.Errorf("got %s", got)
	}
}

// TestOnlyClientsEraIsTheServers: a server of both eras runs once, in the era of
// the client that there is.
func TestOnlyClientsEraIsTheServers(t *testing.T) {
	s := runtimetest.Full("2026-07-28", "2025-11-25")
	b := newPool(map[string]*runtimetest.Server{"a": s})
	c := attach(t, b.serve(t, proxy.Options{SingleClient: true}))
	c.hello("2025-11-25", `{"elicitation":{}}`, "one")
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	if keys := b.dialled(); len(keys) != 1 || !keys[0].Legacy {
		t.Errorf("got connections %v", keys)
	}
	b = newPool(map[string]*runtimetest.Server{"a": s})
	c = b.stdioOf(t, proxy.Options{SingleClient: true, NoPrefix: true})
	c.july(`1`, "tools/call", `{"name":"echo","arguments":{"message":"hi"}}`, `{}`)
	if keys := b.dialled(); len(keys) != 1 || keys[0].Legacy {
		t.Errorf("got connections %v", keys)
	}
}

// TestEndOfInputEndsQuestions: nobody can answer them any more, and what else
// there is to answer is not held up.
func TestEndOfInputEndsQuestions(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	for range 2 { // the slow way and the quick one
		c := attach(t, p)
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+canElicit+`}`)
		answer := c.begin(`"q"`, "tools/call", `{"name":"a__elicit","arguments":{}}`)
		<-c.notes // the question
		c.end()
		if got := <-answer; !strings.Contains(got, "error") {
			t.Errorf("got %s", got)
		}
	}
}

// TestQuestionEndsWithItsCall: a client is told that nobody waits for its answer
// any more.
func TestQuestionEndsWithItsCall(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c := attach(t, p)
	c.hello("2025-11-25", canElicit, "one")
	c.mu.Lock()
	c.answer = nil
	c.mu.Unlock()
	for range 3 { // over the shared connection, slow and quick, and over its own
		c.begin(`"q"`, "tools/call", `{"name":"a__elicit","arguments":{}}`)
		var q message
		if err := json.Unmarshal([]byte(<-c.notes), &q); err != nil || q.Method != "elicitation/create" {
			t.Fatalf("got %+v %v", q, err)
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		if got := <-c.notes; !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, string(q.ID)) {
			t.Errorf("got %s", got)
		}
	}
}

// TestQuestionSuspendsTheLimit: whoever is asked may take longer than a request
// may without a sign of life.
func TestQuestionSuspendsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { thinks(t, true, 10*time.Second, time.Minute) })
	// What the quick way waits on is pooled, and must not get into a bubble.
	thinks(t, false, time.Second, 1500*time.Millisecond)
}

// thinks has a client that takes its time over a question.
func thinks(t *testing.T, plain bool, limit, takes time.Duration) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	b.plain = plain
	c := attach(t, b.serve(t, proxy.Options{RequestTimeout: limit}))
	c.hello("2025-11-25", canElicit, "one")
	c.mu.Lock()
	c.answer = func(message) string {
		time.Sleep(takes) // the time itself is what is tested
		return `{"action":"decline"}`
	}
	c.mu.Unlock()
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, "decline") {
		t.Errorf("plain %v: got %s", plain, got)
	}
}

// TestEraOfDualServers: a client meets a server that speaks both in its own era;
// what is listed comes from one connection.
func TestEraOfDualServers(t *testing.T) {
	s, _, _ := asking()
	s.Versions = []string{"2026-07-28", "2025-11-25"}
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{})
	c := attach(t, p)
	n := c.hello("2025-11-25", canElicit, "one")
	c.result("tools/list", `{}`)
	for range 3 {
		if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"one\"`) {
			t.Errorf("got %s", got)
		}
	}
	keys := b.dialled()
	if len(keys) != 2 || keys[0].Legacy || !keys[1].Legacy || own(keys[1]) || n.Load() != 3 {
		t.Errorf("got %v, asked %d times", keys, n.Load())
	}
}

// TestServerComesBackInAnotherEra: what was settled is found out again.
func TestServerComesBackInAnotherEra(t *testing.T) {
	for _, lines := range [][2][]string{
		{{"2025-11-25"}, {"2026-07-28"}},
		{{"2026-07-28"}, {"2025-06-18"}},
		{{"2025-11-25"}, {"2026-07-28", "2025-11-25"}},
		{{"2026-07-28", "2025-11-25"}, {"2026-07-28"}},
		{{"2026-07-28", "2025-11-25"}, {"2025-11-25"}},
	} {
		old, later := runtimetest.New(), runtimetest.New()
		old.Versions, later.Versions = lines[0], lines[1]
		b := newPool(map[string]*runtimetest.Server{"a": old})
		p := b.serve(t, proxy.Options{})
		c := attach(t, p)
		c.hello("2025-11-25", `{}`, "one")
		c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
		b.mu.Lock()
		b.servers["a"] = later
		b.mu.Unlock()
		b.kill(func(proxy.Key) bool { return true })
		wait.Until(t, "the server is gone", func() bool { return b.living(func(proxy.Key) bool { return true }) == 0 })
		for i := range 3 {
			want := fmt.Sprintf("m%d", i)
			if got := c.result("tools/call", fmt.Sprintf(`{"name":"a__echo","arguments":{"message":%q}}`, want)); !strings.Contains(got, want) {
				t.Errorf("%v: got %s", lines, got)
			}
		}
	}
}

// TestNameInElicitations: with several servers the question says whose it is.
func TestNameInElicitations(t *testing.T) {
	s, _, _ := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s, "b": runtimetest.New()})
	c := attach(t, b.serve(t, proxy.Options{}))
	c.hello("2025-11-25", canElicit, "one")
	if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"message\":\"a`) || !strings.Contains(got, `Who?`) {
		t.Errorf("got %s", got)
	}
}

// TestSamplingGetsNoContext of other servers: behind a proxy it would be all of
// them.
func TestSamplingGetsNoContext(t *testing.T) {
	s := runtimetest.New()
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"sample","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			res, err := c.Ask(ctx, "sampling/createMessage", json.RawMessage(`{"messages":[],"includeContext":"allServers","maxTokens":9007199254740993}`))
			return runtimetest.Text(string(res)), err
		},
	})
	c := attach(t, newPool(map[string]*runtimetest.Server{"a": s}).serve(t, proxy.Options{}))
	c.hello("2025-11-25", `{"sampling":{"context":{}}}`, "one")
	if got := c.result("tools/call", `{"name":"a__sample","arguments":{}}`); !strings.Contains(got, `{\"messages\":[],\"includeContext\":\"none\",\"maxTokens\":9007199254740993}`) {
		t.Errorf("got %s", got)
	}
}

// TestEndOfElicitation is told to whoever was asked, once, and to nobody else.
func TestEndOfElicitation(t *testing.T) {
	s := runtimetest.New()
	done := make(chan func(id string), 10)
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"link","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var args struct{ ID string }
			_ = json.Unmarshal(c.Arguments, &args)
			res, err := c.Ask(ctx, "elicitation/create", json.RawMessage(fmt.Sprintf(`{"mode":"url","message":"open","url":"https://example.com/","elicitationId":%q}`, args.ID)))
			done <- func(id string) {
				c.Notify("notifications/elicitation/complete", json.RawMessage(fmt.Sprintf(`{"elicitationId":%q}`, id)))
			}
			return runtimetest.Text(string(res)), err
		},
	})
	p := newPool(map[string]*runtimetest.Server{"a": s}).serve(t, proxy.Options{Servers: []proxy.Server{{Name: "a", Isolation: proxy.IsolationShared}}})
	c1, c2 := attach(t, p), attach(t, p)
	c1.hello("2025-11-25", `{"elicitation":{"url":{}}}`, "one")
	c2.hello("2025-11-25", `{"elicitation":{"url":{}}}`, "two")
	var tell func(string)
	for c, id := range map[*client]string{c1: "e1", c2: "e2"} {
		c.result("tools/call", fmt.Sprintf(`{"name":"a__link","arguments":{"id":%q}}`, id))
		tell = <-done
	}
	for _, id := range []string{"e1", "e1", "e2", "e3"} {
		tell(id)
	}
	for c, id := range map[*client]string{c1: "e1", c2: "e2"} {
		if got := <-c.notes; got != fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":%q}}`, id) {
			t.Errorf("got %s", got)
		}
		c.result("ping", `{}`)
		if len(c.notes) > 0 {
			t.Errorf("got %s, too", <-c.notes)
		}
	}
}

// TestServerThatRunsOnce: clients go on sharing it, and its questions are shown
// to nobody while they may be another's.
func TestServerThatRunsOnce(t *testing.T) {
	s, started, release := asking()
	b := newPool(map[string]*runtimetest.Server{"a": s})
	b.refuse = func(k proxy.Key) bool { return own(k) || k.Capabilities == `{}` }
	p := b.serve(t, proxy.Options{})
	c1, c2 := attach(t, p), attach(t, p)
	c1.hello("2025-11-25", canElicit, "one")
	n2 := c2.hello("2025-11-25", canElicit, "two")
	for _, c := range []*client{c1, c2} {
		c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
	}
	for range 3 {
		if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, `\"who\":\"one\"`) {
			t.Errorf("got %s", got)
		}
	}
	waiting := c2.begin(`"w"`, "tools/call", `{"name":"a__wait","arguments":{}}`)
	<-started
	if got := c1.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, "cannot be told to belong to one") {
		t.Errorf("got %s", got)
	}
	close(release)
	<-waiting
	if n := len(b.dialled()); n != 3 || n2.Load() != 0 { // once for each of them, and then not for a while
		t.Errorf("tried %d times, asked the other %d times", n, n2.Load())
	}
}

// TestCallThatTakesTooLong: at the ceiling the client hears of that, and not of
// the limit for silence.
func TestCallThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := asking()
		b := newPool(map[string]*runtimetest.Server{"a": s})
		b.plain = true
		c := attach(t, b.serve(t, proxy.Options{RequestTimeout: time.Minute}))
		c.hello("2025-11-25", canElicit, "one")
		c.mu.Lock()
		c.answer = func(message) string {
			time.Sleep(2 * time.Hour)
			return `{"action":"decline"}`
		}
		c.mu.Unlock()
		if got := c.result("tools/call", `{"name":"a__elicit","arguments":{}}`); !strings.Contains(got, "no answer within 1h0m0s") {
			t.Errorf("got %s", got)
		}
		time.Sleep(2 * time.Hour) // the client has thought it over
	})
}
