package dial

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// guard is the handler of one bare transport. Probing may end a transport; only
// the end of the one in use ends the connection. While a request of the server is
// answered, the timeouts of calls are suspended.
type guard struct {
	runtime.Handler
	tools atomic.Uint64 // notifications that the server's tools changed

	mu     sync.Mutex      // guards what follows
	client *runtime.Client // nil until the transport is the connection's
	ended  bool
	err    error
}

// Notification implements [runtime.Handler].
func (g *guard) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	if method == revision.NotificationToolsListChanged {
		g.tools.Add(1)
	}
	g.Handler.Notification(ctx, call, method, params)
}

// ToolsVersion implements [runtime.Client.ToolsVersion].
func (g *guard) ToolsVersion() uint64 { return g.tools.Load() }

// Request implements [runtime.Handler].
func (g *guard) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	g.mu.Lock()
	client := g.client
	g.mu.Unlock()
	if client != nil && method != revision.MethodPing {
		defer client.Suspend()()
	}
	return g.Handler.Request(ctx, call, method, params)
}

// Closed implements [runtime.Handler].
func (g *guard) Closed(err error) {
	g.mu.Lock()
	g.ended, g.err = true, err
	kept := g.client != nil
	g.mu.Unlock()
	if kept {
		g.Handler.Closed(err)
	}
}

// keep makes the transport the connection's. It may have ended already.
func (g *guard) keep(client *runtime.Client) {
	g.mu.Lock()
	g.client = client
	ended, err := g.ended, g.err
	g.mu.Unlock()
	if ended {
		g.Handler.Closed(err)
	}
}

// asked forwards the bridge's messages to the handler of the connection.
type asked dialer

// Notification implements [runtime.Handler].
func (a *asked) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	a.guard.Notification(ctx, call, method, params)
}

// Request implements [runtime.Handler].
func (a *asked) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	return a.guard.Request(ctx, call, method, params)
}

// Closed does nothing: the bare transport reports the end.
func (*asked) Closed(error) {}
