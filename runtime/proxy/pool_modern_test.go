package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// pooled is a backend over a fake server in memory, connected.
func pooled(t *testing.T, s *runtimetest.Server, isolation Isolation) *Backend {
	t.Helper()
	p, err := New(Options{
		Servers: []Server{{Name: "a", Isolation: isolation}},
		Dial: func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error) {
			c, err := bridge.Connect(ctx, bridge.Options{
				Legacy: key.Legacy, Capabilities: json.RawMessage(key.Capabilities), Handler: h,
				Open: func(context.Context) (runtime.Transport, error) { return s.Connect(h), nil },
			})
			if err != nil {
				return nil, err
			}
			return runtime.NewClient(c.Transport, runtime.ClientOptions{Info: c.Info}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	b := p.router.set.all()[0]
	if _, err := b.primary.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.remote = false // as a process is
	b.mu.Unlock()
	return b
}

func count(b *Backend) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.slots)
}

// get acquires a connection.
func get(t *testing.T, b *Backend, from *Origin) (*Conn, func()) {
	t.Helper()
	c, done, err := b.acquire(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return c, done
}

func alone(capabilities string) *Origin {
	return &Origin{version: revision.Modern, capabilities: json.RawMessage(capabilities)}
}

func settledPeer(capabilities string) *Origin {
	who := newClient(func([]byte) error { return nil })
	who.terms.Store(&terms{"2025-11-25", json.RawMessage(capabilities)})
	return &Origin{version: "2025-11-25", capabilities: json.RawMessage(capabilities), client: who}
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
	if first.slot != b.primary || count(b) != 0 {
		t.Error("a server that has asked nothing is not shared")
	}
	done()
	b.setAsksClients(first, true)
	c1, done1 := get(t, b, alone(formOnly))
	c2, done2 := get(t, b, alone(formOnly))
	c3, done3 := get(t, b, alone(canAll))
	none1, _ := get(t, b, alone(`{}`))
	none2, _ := get(t, b, alone(`{"experimental":{}}`))
	if c1 == c2 || c1 == c3 || !c1.slot.exclusive || c1.slot.key.Capabilities != formOnly {
		t.Errorf("two requests share %v", c1.slot.key)
	}
	if none1 != none2 || none1.slot.exclusive || none1.slot.key.Capabilities != `{}` {
		t.Errorf("requests that cannot be asked: got %v and %v", none1.slot.key, none2.slot.key)
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
	b.setAsksClients(b.primary.ready.Load(), false)
	c1, _ := get(t, b, alone(formOnly))
	c2, _ := get(t, b, alone(formOnly))
	c3, _ := get(t, b, alone(canAll))
	if c1 != c2 || c1 == c3 || c1.slot.exclusive {
		t.Errorf("got %v, %v and %v", c1.slot.key, c2.slot.key, c3.slot.key)
	}
}

// TestPoolIsBounded: beyond the bound callers share, until something is idle.
func TestPoolIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pooled(t, runtimetest.New(), IsolationAuto)
		b.setAsksClients(b.primary.ready.Load(), true)
		var ends []func()
		for i := range maxSlots {
			c, done := get(t, b, alone(formOnly))
			ends = append(ends, done)
			if !c.slot.exclusive {
				t.Fatalf("request %d shares", i)
			}
		}
		c, _ := get(t, b, alone(formOnly))
		own, _ := get(t, b, settledPeer(formOnly))
		if c.slot != b.primary || own.slot != b.primary || count(b) != maxSlots {
			t.Errorf("beyond the bound: got %v and %v", c.slot.key, own.slot.key)
		}
		ends[0]()
		if c, done := get(t, b, alone(formOnly)); !c.slot.exclusive {
			t.Error("one that was given back is not used")
		} else {
			done()
		}
		if own, _ := get(t, b, settledPeer(formOnly)); own.slot != b.primary {
			t.Error("one that was used just now makes room")
		}
		time.Sleep(yieldIdle + time.Second) // as time goes in the bubble
		if own, _ := get(t, b, settledPeer(formOnly)); own.slot.owner == nil || count(b) != maxSlots {
			t.Error("an idle one does not make room")
		}
		for _, done := range ends[1:] {
			done()
		}
		time.Sleep(ownIdle + 2*reapEvery) // as above
		if n := count(b); n != 0 {
			t.Errorf("%d idle connections are kept", n)
		}
	})
}

// TestOwnConnectionsEnd with their session, or when they are idle, unless the
// entry asks for one each.
func TestOwnConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for isolation, kept := range map[Isolation]int{IsolationAuto: 0, IsolationSession: 1} {
			b := pooled(t, runtimetest.New(), isolation)
			b.setAsksClients(b.primary.ready.Load(), true)
			one, two := settledPeer(formOnly), settledPeer(formOnly)
			c1, _ := get(t, b, one)
			c2, _ := get(t, b, two)
			if again, _ := get(t, b, one); c1 == c2 || again != c1 || one.client.state.connTo(b) != c1 {
				t.Errorf("%s: got %v and %v", isolation, c1.slot.key, c2.slot.key)
			}
			end(b, two.client)
			end(b, two.client)
			if two.client.state.connTo(b) != nil || count(b) != 1 {
				t.Errorf("%s: a session's connection outlives it", isolation)
			}
			if late, _ := get(t, b, two); late.slot != b.primary {
				t.Errorf("%s: a session that has ended gets a connection", isolation)
			}
			time.Sleep(ownIdle + 2*reapEvery) // as time goes in the bubble
			if count(b) != kept {
				t.Errorf("%s: %d idle connections, want %d", isolation, count(b), kept)
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
			b.setSettings(settings{Name: b.name, IdleTimeout: idle})
			old, _ := get(t, b, settledPeer(formOnly))
			if old.slot == b.primary {
				t.Fatal("the eras share")
			}
			time.Sleep(ownIdle + 2*reapEvery) // as time goes in the bubble
			if n := len(b.connections()); idle < 0 && n != 2 || idle >= 0 && n != 0 {
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
		callers := []*Origin{settledPeer(formOnly), settledPeer(formOnly), settledPeer(`{}`), alone(formOnly)}
		if x.asks {
			c, _ := get(t, b, callers[0])
			b.setAsksClients(c, true)
		}
		seen := map[*Conn]byte{}
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
	b.setAsksClients(b.primary.ready.Load(), true)
	from := settledPeer(formOnly)
	for range 50 {
		l := b.selectSlot(from)
		b.mu.Lock()
		b.closeSlot(l)
		b.mu.Unlock()
		if _, err := l.acquire(t.Context()); err == nil {
			t.Fatal("a closed link connects")
		}
		if _, _, err := b.acquire(t.Context(), from); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(b); n != 1 {
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
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stubborn","arguments":{}}}`)
	var m rawjson.Message
	if err := rawjson.Scan(line, &m); err != nil {
		t.Fatal(err)
	}
	from := *alone(`{"sampling":{}}`)
	from.ask = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		t.Error("the client was asked")
		return nil, errors.New("no")
	}
	_, err := routerOf(b).forward(t.Context(), b, Request{line: line, msg: &m, method: "tools/call", from: from})
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != runtime.CodeMissingCapability || !strings.Contains(string(rpc.Data), `{"elicitation":{"form":{}}}`) {
		t.Errorf("got %v", err)
	}
	<-cancelled
}

// end ends a client's session as far as its backend is concerned.
func end(b *Backend, who *Client) { routerOf(b).leave(who) }

func routerOf(b *Backend) *Router {
	all, _ := b.set.observer.(*observer)
	return all.rt
}
