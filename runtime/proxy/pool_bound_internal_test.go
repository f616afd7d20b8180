package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/require"
)

// unreachable is a proxy for one server that cannot be connected.
func unreachable(t testing.TB, o Options) (*Proxy, *upstream.Backend) {
	t.Helper()
	if o.Servers == nil {
		o.Servers = Named("a")
	}
	o.Dial = func(context.Context, Key, runtime.Handler) (*runtime.Client, error) { return nil, errors.New("no") }
	p, err := newAllowed(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p, p.router.Set.All()[0]
}

// TestOwnConnectionsAreBounded: whatever clients declare, and be it all that a
// shared connection does.
func TestOwnConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{}`, `{"elicitation":{"form":{}}}`, upstream.SharedOffer} {
		_, b := unreachable(t, Options{Servers: []Server{{Name: "a", Isolation: IsolationSession}}})
		for range 3 * upstream.MaxSlots {
			who := upstream.NewClient(func([]byte) error { return nil })
			t.Cleanup(who.State.End)
			who.Terms.Store(&client.Terms{Version: "2025-11-25", Capabilities: json.RawMessage(capabilities)})
			b.Pool.SelectSlot(&upstream.Caller{Version: "2025-11-25", Capabilities: json.RawMessage(capabilities), Client: who})
		}
		if n := b.Pool.CountSlots(); n != upstream.MaxSlots {
			t.Errorf("%s: %d connections", capabilities, n)
		}
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

func (deaf) Notify(string, []byte) {}

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
		l := b.Primary
		conn := upstream.NewConn(l, "")
		conn.Client = runtime.NewClient(&stubborn{c.refuses}, runtime.ClientOptions{})
		l.Ready.Store(conn)
		s := &subscriptions.Subscription{Listener: deaf{}, URI: "x:y", Bare: "x:y"}
		err := p.router.Hub.Add(t.Context(), conn, s)
		if (err != nil) != (c.refuses == "resources/subscribe") {
			t.Errorf("%s: %v", name, err)
		}
		if c.shut {
			l.Ready.Store(nil)
		}
		p.router.Hub.Remove(s)
		p.router.Set.Work.Wait()
		if n := p.router.Hub.Slots(); n > 0 {
			t.Errorf("%s: %d connections are remembered", name, n)
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

// TestRootsChangeWithoutWaiting: a server that is slow to take a notification of
// changed roots delays nobody, and many changes of a client are one notification.
func TestRootsChangeWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, b := unreachable(t, Options{})
		who := upstream.NewClient(func([]byte) error { return nil })
		defer p.router.Leave(who)
		p.router.Set.SingleClient.Store(who)
		s := &slow{let: make(chan struct{})}
		conn := upstream.NewConn(b.Primary, `{"roots":{}}`)
		conn.Client = runtime.NewClient(s, runtime.ClientOptions{})
		b.Primary.Ready.Store(conn)
		start := time.Now()
		for range 10 {
			p.router.RootsChanged(who)
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
		p.router.Set.Work.Wait()
	})
}

// TestLevelIsToldAgain: a level that a client's cancel has kept from a server is
// sent with the next one.
func TestLevelIsToldAgain(t *testing.T) {
	t.Parallel()
	_, b := unreachable(t, Options{})
	s := &leveled{}
	c := upstream.NewConn(b.Primary, "")
	c.Client = runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Capabilities: json.RawMessage(`{"logging":{}}`)}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{gone, t.Context(), t.Context()} {
		interaction.TellLevel(ctx, c, revision.LevelInfo)
	}
	if s.n != 1 {
		t.Errorf("told %d times", s.n)
	}
}

// leveled counts the levels that it is sent.
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
