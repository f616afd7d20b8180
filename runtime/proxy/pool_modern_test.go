package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// pooled is a backend over a fake server in memory, connected.
func pooled(t *testing.T, s *runtimetest.Server, isolation Isolation) *upstream.Backend {
	t.Helper()
	p, err := New(Options{
		Servers: []Server{{Name: "a", Isolation: isolation}},
		Dial: func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error) {
			return ConnectAs(ctx, key, h, negotiate.Options{}, func(h runtime.Handler) (runtime.Transport, error) { return s.Connect(h), nil })
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	b := p.router.Set.All()[0]
	routers.Store(b, p.router)
	if _, err := b.Primary.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Pool.SetRemote(false) // as a process is
	return b
}

// get acquires a connection.
func get(t *testing.T, b *upstream.Backend, from *upstream.Caller) (*upstream.Conn, func()) {
	t.Helper()
	c, done, err := b.Pool.Acquire(t.Context(), from)
	require.NoError(t, err)
	return c, done
}

func alone(capabilities string) *upstream.Caller {
	return &upstream.Caller{Version: revision.Modern, Capabilities: json.RawMessage(capabilities)}
}

func settledPeer(capabilities string) *upstream.Caller {
	who := upstream.NewClient(func([]byte) error { return nil })
	who.Terms.Store(&client.Terms{Version: "2025-11-25", Capabilities: json.RawMessage(capabilities)})
	return &upstream.Caller{Version: "2025-11-25", Capabilities: json.RawMessage(capabilities), Client: who}
}

const (
	formOnly = `{"elicitation":{"form":{}}}`
	canAll   = `{"elicitation":{"form":{},"url":{}},"sampling":{}}`
)

// TestRequestsWithoutSessionAreAskedAlone: once a server asks without telling
// inside which call, each of its processes has one such request at a time, of
// which it knows what can be asked.
func TestRequestsWithoutSessionAreAskedAlone(t *testing.T) {
	b := pooled(t, runtimetest.New(), IsolationAuto)
	first, done := get(t, b, alone(formOnly))
	if first.Slot != b.Primary || b.Pool.CountSlots() != 0 {
		t.Error("a server that has asked nothing is not shared")
	}
	done()
	b.Pool.SetAsksClients(first, true)
	c1, done1 := get(t, b, alone(formOnly))
	c2, done2 := get(t, b, alone(formOnly))
	c3, done3 := get(t, b, alone(canAll))
	none1, _ := get(t, b, alone(`{}`))
	none2, _ := get(t, b, alone(`{"experimental":{}}`))
	if c1 == c2 || c1 == c3 || !c1.Slot.Exclusive || c1.Slot.Key.Capabilities != formOnly {
		t.Errorf("two requests share %v", c1.Slot.Key)
	}
	if none1 != none2 || none1.Slot.Exclusive || none1.Slot.Key.Capabilities != `{}` {
		t.Errorf("requests that cannot be asked: got %v and %v", none1.Slot.Key, none2.Slot.Key)
	}
	done1()
	done3()
	if again, done := get(t, b, alone(formOnly)); again != c1 {
		t.Error("a connection is not used again")
	} else {
		done()
	}
	done2()
}

// TestRequestsWithoutSessionShareAStream: where the wire tells inside which call
// a server asks, one connection does for all with equal capabilities.
func TestRequestsWithoutSessionShareAStream(t *testing.T) {
	b := pooled(t, runtimetest.New(), IsolationAuto)
	b.Pool.SetAsksClients(b.Primary.Ready.Load(), false)
	c1, _ := get(t, b, alone(formOnly))
	c2, _ := get(t, b, alone(formOnly))
	c3, _ := get(t, b, alone(canAll))
	if c1 != c2 || c1 == c3 || c1.Slot.Exclusive {
		t.Errorf("got %v, %v and %v", c1.Slot.Key, c2.Slot.Key, c3.Slot.Key)
	}
}

// endable is a request that a goroutine waits for.
type endable struct{ from *upstream.Caller }

func (w *endable) Caller() upstream.Caller  { return *w.from }
func (w *endable) OnEnd(func())             {}
func (w *endable) Suspend() (resume func()) { return func() {} }
func (w *endable) Ended()                   {}

// TestPoolHasShares: who has the most further connections loses the one that was used
// longest ago where another principal has none, and its call ends. Nobody loses one to whom
// has as many, or to those who do not say who they are.
func TestPoolHasShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pooled(t, runtimetest.New(), IsolationAuto)
		b.Pool.SetAsksClients(b.Primary.Ready.Load(), true)
		type ended struct {
			who string
			n   int
			err error
		}
		ends := make(chan ended, 100)
		all, stop := context.WithCancel(t.Context())
		begin := func(who string, n int) (exclusive bool) {
			t.Helper()
			from := alone(formOnly)
			if who != "" {
				from.Who = &access.Principal{ID: who}
			}
			ctx, end := context.WithCancelCause(all)
			from.Refuse = end
			over := make(chan bool, 1)
			go func() {
				_, _, err := b.Call(ctx, from, func(c *upstream.Conn) (*runtime.Request, upstream.Waiter, error) {
					over <- c.Slot.Exclusive
					return &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"slow","arguments":{"ms":3600000}}`)}, &endable{from}, nil
				})
				if all.Err() == nil {
					ends <- ended{who, n, cmp.Or(context.Cause(ctx), err)}
				}
			}()
			time.Sleep(time.Second) // as time goes in the bubble
			return <-over
		}
		for i := range upstream.MaxSlots {
			begin("alice", i)
		}
		if begin("alice", 99) {
			t.Error("alice takes from herself")
		}
		if begin("", 99) {
			t.Error("nobody in particular takes from alice")
		}
		for i := range upstream.MaxSlots / 2 {
			if !begin("bob", 99) {
				t.Fatalf("bob has %d of %d and gets no more", i, upstream.MaxSlots)
			}
			if got := <-ends; got.who != "alice" || got.n != i || !strings.Contains(got.err.Error(), "the most") {
				t.Errorf("%+v has ended, want alice's oldest, %d", got, i)
			}
		}
		if begin("bob", 99) || len(ends) > 0 {
			t.Error("bob gets more than half")
		}
		if n := b.Pool.CountSlots(); n != upstream.MaxSlots {
			t.Errorf("%d connections", n)
		}
		stop()
		synctest.Wait()
	})
}

// TestPoolIsBounded: beyond the bound callers share, until something is idle.
func TestPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pooled(t, runtimetest.New(), IsolationAuto)
		b.Pool.SetAsksClients(b.Primary.Ready.Load(), true)
		var ends []func()
		for i := range upstream.MaxSlots {
			c, done := get(t, b, alone(formOnly))
			ends = append(ends, done)
			if !c.Slot.Exclusive {
				t.Fatalf("request %d shares", i)
			}
		}
		c, _ := get(t, b, alone(formOnly))
		own, _ := get(t, b, settledPeer(formOnly))
		if c.Slot != b.Primary || own.Slot != b.Primary || b.Pool.CountSlots() != upstream.MaxSlots {
			t.Errorf("beyond the bound: got %v and %v", c.Slot.Key, own.Slot.Key)
		}
		ends[0]()
		if c, done := get(t, b, alone(formOnly)); !c.Slot.Exclusive {
			t.Error("one that was given back is not used")
		} else {
			done()
		}
		if own, _ := get(t, b, settledPeer(formOnly)); own.Slot != b.Primary {
			t.Error("one that was used just now makes room")
		}
		time.Sleep(upstream.YieldIdle + time.Second) // as time goes in the bubble
		if own, _ := get(t, b, settledPeer(formOnly)); own.Slot.Owner == nil || b.Pool.CountSlots() != upstream.MaxSlots {
			t.Error("an idle one does not make room")
		}
		for _, done := range ends[1:] {
			done()
		}
		time.Sleep(upstream.OwnIdle + 2*upstream.ReapEvery) // as above
		if n := b.Pool.CountSlots(); n != 0 {
			t.Errorf("%d idle connections are kept", n)
		}
	})
}

// TestOwnConnectionsEnd with their session, or when they are idle, unless the
// entry asks for one each.
func TestOwnConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for isolation, stored := range map[Isolation]int{IsolationAuto: 0, IsolationSession: 1} {
			b := pooled(t, runtimetest.New(), isolation)
			b.Pool.SetAsksClients(b.Primary.Ready.Load(), true)
			one, two := settledPeer(formOnly), settledPeer(formOnly)
			c1, _ := get(t, b, one)
			c2, _ := get(t, b, two)
			if again, _ := get(t, b, one); c1 == c2 || again != c1 || one.Client.State.ConnTo(b) != c1 {
				t.Errorf("%s: got %v and %v", isolation, c1.Slot.Key, c2.Slot.Key)
			}
			end(b, two.Client)
			end(b, two.Client)
			if two.Client.State.ConnTo(b) != nil || b.Pool.CountSlots() != 1 {
				t.Errorf("%s: a session's connection outlives it", isolation)
			}
			if delayed, _ := get(t, b, two); delayed.Slot != b.Primary {
				t.Errorf("%s: a session that has ended gets a connection", isolation)
			}
			time.Sleep(upstream.OwnIdle + 2*upstream.ReapEvery) // as time goes in the bubble
			if b.Pool.CountSlots() != stored {
				t.Errorf("%s: %d idle connections, want %d", isolation, b.Pool.CountSlots(), stored)
			}
		}
	})
}

// TestSharedConnectionsStay, in either era, where the settings say so.
func TestSharedConnectionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, idle := range []time.Duration{0, time.Minute, -1} {
			s := runtimetest.New()
			s.Versions = []string{"2026-07-28", "2025-11-25"}
			b := pooled(t, s, IsolationAuto)
			b.SetSettings(upstream.Settings{Name: b.Name, IdleTimeout: idle})
			old, _ := get(t, b, settledPeer(formOnly))
			if old.Slot == b.Primary {
				t.Fatal("the eras share")
			}
			time.Sleep(upstream.OwnIdle + 2*upstream.ReapEvery) // as time goes in the bubble
			if n := len(b.Pool.Connections()); idle < 0 && n != 2 || idle >= 0 && n != 0 {
				t.Errorf("idle timeout %v: %d connections are left", idle, n)
			}
			if again, _ := get(t, b, settledPeer(formOnly)); (again == old) != (idle < 0) {
				t.Errorf("idle timeout %v: the connection is the same: %t", idle, again == old)
			}
		}
	})
}

// TestIsolationOfEachKind: who shares with whom before and after a question.
func TestIsolationOfEachKind(t *testing.T) {
	for _, x := range []struct {
		isolation Isolation
		versions  []string
		asks      bool
		want      string // which of one, two, none and modern share: equal letters
	}{
		{IsolationAuto, nil, false, "aaaa"},
		{IsolationAuto, nil, true, "abcd"},
		{IsolationShared, nil, true, "aaaa"},
		{IsolationPrincipal, nil, true, "aaaa"},
		{IsolationSession, nil, false, "abcd"},
		{IsolationAuto, []string{"2026-07-28"}, true, "aaaa"},
		{IsolationSession, []string{"2026-07-28"}, false, "abcd"},
		{IsolationAuto, []string{"2026-07-28", "2025-11-25"}, false, "aaab"},
		{IsolationAuto, []string{"2026-07-28", "2025-11-25"}, true, "abcd"},
	} {
		s := runtimetest.New()
		s.Versions = x.versions
		b := pooled(t, s, x.isolation)
		callers := []*upstream.Caller{settledPeer(formOnly), settledPeer(formOnly), settledPeer(`{}`), alone(formOnly)}
		if x.asks {
			c, _ := get(t, b, callers[0])
			b.Pool.SetAsksClients(c, true)
		}
		seen := map[*upstream.Conn]byte{}
		got := ""
		for _, from := range callers {
			c, _ := get(t, b, from)
			if seen[c] == 0 {
				seen[c] = byte('a' + len(seen))
			}
			got += string(seen[c])
		}
		if got != x.want {
			t.Errorf("%s, %v, asks %v: got %s, want %s", x.isolation, x.versions, x.asks, got, x.want)
		}
	}
}

// TestLinkThatIsClosedInTheMeantime: whoever has just chosen it gets another.
func TestLinkThatIsClosedInTheMeantime(t *testing.T) {
	b := pooled(t, runtimetest.New(), IsolationAuto)
	b.Pool.SetAsksClients(b.Primary.Ready.Load(), true)
	from := settledPeer(formOnly)
	for range 50 {
		l, err := b.Pool.SelectSlot(from)
		require.NoError(t, err)
		l.Close()
		if _, err := l.Acquire(t.Context()); err == nil {
			t.Fatal("a closed slot connects")
		}
		if _, _, err := b.Pool.Acquire(t.Context(), from); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.Pool.CountSlots(); n != 1 {
		t.Errorf("%d links for one session", n)
	}
}

// TestQuestionThatTheRequestDoesNotAllow: the server is refused, its call is
// cancelled, and the client learns what it has to declare.
func TestQuestionThatTheRequestDoesNotAllow(t *testing.T) {
	s := runtimetest.New()
	cancelled := make(chan struct{}, 1)
	s.Seen = func(frame []byte) {
		if bytes.Contains(frame, []byte("notifications/cancelled")) {
			cancelled <- struct{}{}
		}
	}
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"stubborn","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			_, _ = c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`))
			<-ctx.Done() // it does not take no for an answer
			return nil, ctx.Err()
		},
	})
	b := pooled(t, s, IsolationAuto)
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + b.Name + `__stubborn","arguments":{}}}`)
	var m rawjson.Message
	require.NoError(t, rawjson.Scan(line, &m))
	from := *alone(`{"sampling":{}}`)
	from.Ask = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		t.Error("the client was asked")
		return nil, errors.New("no")
	}
	_, err := routerOf(b).Answer(t.Context(), &router.Request{Line: line, Msg: &m, Method: "tools/call", From: from})
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != runtime.CodeMissingCapability || !strings.Contains(string(rpc.Data), `{"elicitation":{"form":{}}}`) {
		t.Errorf("got %v", err)
	}
	<-cancelled
}

// end ends a client's session as far as its backend is concerned.
func end(b *upstream.Backend, who *upstream.Client) { routerOf(b).Leave(who) }

func routerOf(b *upstream.Backend) *router.Router {
	rt, _ := routers.Load(b)
	return rt.(*router.Router)
}

var routers sync.Map // of pooled backends
