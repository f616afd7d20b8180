package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// unreachable is a proxy for one server that cannot be connected.
func unreachable(t testing.TB, o Options) (*Proxy, *Backend) {
	t.Helper()
	if o.Servers == nil {
		o.Servers = Named("a")
	}
	o.Dial = func(context.Context, Key, runtime.Handler) (*runtime.Client, error) { return nil, errors.New("no") }
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, p.router.set.all()[0]
}

// TestOwnConnectionsAreBounded: whatever clients declare, and be it all that a
// shared connection does.
func TestOwnConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{}`, `{"elicitation":{"form":{}}}`, sharedOffer} {
		_, b := unreachable(t, Options{Servers: []Server{{Name: "a", Isolation: IsolationSession}}})
		for range 3 * maxSlots {
			who := newClient(func([]byte) error { return nil })
			t.Cleanup(who.state.end)
			who.terms.Store(&terms{"2025-11-25", json.RawMessage(capabilities)})
			b.selectSlot(&Origin{version: "2025-11-25", capabilities: json.RawMessage(capabilities), client: who})
		}
		b.mu.Lock()
		if len(b.slots) != maxSlots {
			t.Errorf("%s: %d connections", capabilities, len(b.slots))
		}
		b.mu.Unlock()
	}
}

// stubborn is a server that agrees to no subscription, or to no end of one.
type stubborn struct{ refuses string }

func (s *stubborn) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == s.refuses {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "no"}
	}
	return json.RawMessage(`{}`), nil
}
func (*stubborn) Notify(context.Context, *runtime.Request) error { return nil }
func (*stubborn) Close() error                                   { return nil }

// deaf is a listener.
type deaf struct{}

func (deaf) notify(string, []byte) {}

// TestHubForgets: nothing stays of a subscription that the server has refused,
// that it does not let go of, or whose connection is no more.
func TestHubForgets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses string
		shut    bool
	}{
		"ordinary": {}, "refused": {refuses: "resources/subscribe"}, "never ended": {refuses: "resources/unsubscribe"}, "closed": {shut: true},
	} {
		p, b := unreachable(t, Options{})
		l := b.primary
		conn := &Conn{slot: l, opened: make(chan struct{}), calls: map[Waiter]struct{}{}}
		conn.client = runtime.NewClient(&stubborn{c.refuses}, runtime.ClientOptions{})
		l.ready.Store(conn)
		s := &subscription{l: deaf{}, uri: "x:y", bare: "x:y"}
		err := p.router.hub.add(t.Context(), conn, s)
		if (err != nil) != (c.refuses == "resources/subscribe") {
			t.Errorf("%s: %v", name, err)
		}
		if c.shut {
			l.ready.Store(nil)
		}
		p.router.hub.remove(s)
		p.router.set.work.Wait()
		p.router.hub.mu.Lock()
		if n := len(p.router.hub.m); n > 0 {
			t.Errorf("%s: %d connections are remembered", name, n)
		}
		p.router.hub.mu.Unlock()
	}
}

// TestSessionSubscribesWithinBounds: to no more resources than one listen may.
func TestSessionSubscribesWithinBounds(t *testing.T) {
	t.Parallel()
	p, _ := unreachable(t, Options{})
	who := newClient(func([]byte) error { return nil })
	defer p.router.leave(who)
	watches := map[string]func(){}
	for i := range maxWatched {
		watches[strconv.Itoa(i)] = func() {}
	}
	p.router.hub.watches[who] = watches
	for uri, want := range map[string]int64{"0": 0, "new": runtime.CodeInvalidParams} {
		r := Request{line: []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"` + uri + `"}}`), msg: new(rawjson.Message)}
		if err := rawjson.Scan(r.line, r.msg); err != nil {
			t.Fatal(err)
		}
		r.from.client = who
		_, err := p.router.subscribe(t.Context(), r)
		rpc, _ := errors.AsType[*runtime.Error](err)
		if want == 0 && err != nil || want != 0 && (rpc == nil || rpc.Code != want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// slow is a server that takes no notification until it is let.
type slow struct {
	stubborn
	n   atomic.Int64
	let chan struct{}
}

func (s *slow) Notify(ctx context.Context, _ *runtime.Request) error {
	s.n.Add(1)
	select {
	case <-s.let:
	case <-ctx.Done():
	}
	return nil
}

// TestRootsChangeWithoutWaiting: a server that is slow to be told of changed
// roots holds up nobody, and a client that tells of many tells once more.
func TestRootsChangeWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, b := unreachable(t, Options{})
		who := newClient(func([]byte) error { return nil })
		defer p.router.leave(who)
		p.router.set.solo.Store(who)
		s := &slow{let: make(chan struct{})}
		conn := &Conn{slot: b.primary, opened: make(chan struct{}), calls: map[Waiter]struct{}{}, offer: `{"roots":{}}`}
		conn.client = runtime.NewClient(s, runtime.ClientOptions{})
		b.primary.ready.Store(conn)
		start := time.Now()
		for range 10 {
			p.router.rootsChanged(who)
			synctest.Wait()
		}
		if n := s.n.Load(); n != 1 || time.Since(start) > 0 {
			t.Errorf("told %d times at once, which took %v", n, time.Since(start))
		}
		close(s.let)
		synctest.Wait()
		if n := s.n.Load(); n != 2 {
			t.Errorf("told %d times", n)
		}
		p.router.set.work.Wait()
	})
}

// TestLevelIsToldAgain: where a client's cancel has kept a server from being told
// a level, the next one tells it.
func TestLevelIsToldAgain(t *testing.T) {
	t.Parallel()
	_, b := unreachable(t, Options{})
	s := &leveled{}
	c := &Conn{slot: b.primary, opened: make(chan struct{}), calls: map[Waiter]struct{}{}, level: revision.LevelNone}
	c.client = runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Capabilities: json.RawMessage(`{"logging":{}}`)}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{gone, t.Context(), t.Context()} {
		tellLevel(ctx, c, revision.LevelInfo)
	}
	if s.n != 1 {
		t.Errorf("told %d times", s.n)
	}
}

// leveled counts what it is told.
type leveled struct {
	stubborn
	n int
}

func (s *leveled) Call(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
	if ctx.Err() == nil {
		s.n++
	}
	return json.RawMessage(`{}`), ctx.Err()
}
