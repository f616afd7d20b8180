package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
)

// unreachable is a proxy for one server that cannot be connected.
func unreachable(t *testing.T, o Options) (*Proxy, *backend) {
	t.Helper()
	o.Servers = []string{"a"}
	o.Dial = func(context.Context, Key, runtime.Handler) (*runtime.Client, error) { return nil, errors.New("no") }
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, p.backends[0]
}

// TestOwnConnectionsAreBounded: whatever clients declare, and be it all that a
// shared connection does.
func TestOwnConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{}`, `{"elicitation":{"form":{}}}`, sharedOffer} {
		_, b := unreachable(t, Options{Isolation: map[string]Isolation{"a": IsolationSession}})
		for range 3 * maxLinks {
			who := newPeer(func([]byte) error { return nil })
			t.Cleanup(who.belongings.end)
			who.greeted("2025-11-25", json.RawMessage(capabilities))
			b.pick(&caller{version: "2025-11-25", capabilities: json.RawMessage(capabilities), peer: who})
		}
		b.mu.Lock()
		if len(b.links) != maxLinks {
			t.Errorf("%s: %d connections", capabilities, len(b.links))
		}
		b.mu.Unlock()
	}
}
