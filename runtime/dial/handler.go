package dial

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// connHandler is the handler of one bare transport. Probing may end a transport; only
// the end of the one in use ends the connection. While a request of the server is
// answered, the timeouts of calls are suspended.
type connHandler struct {
	runtime.Handler
	tools atomic.Uint64 // notifications that the server's tools changed

	mu     sync.Mutex      // guards what follows
	client *runtime.Client // nil until the transport is the connection's
	ended  bool
	err    error
}

// Notification implements [runtime.Handler].
func (h *connHandler) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	if method == revision.NotificationToolsListChanged {
		h.tools.Add(1)
	}
	h.Handler.Notification(ctx, call, method, params)
}

// ToolsVersion implements [runtime.Client.ToolsVersion].
func (h *connHandler) ToolsVersion() uint64 { return h.tools.Load() }

// Request implements [runtime.Handler].
func (h *connHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	h.mu.Lock()
	client := h.client
	h.mu.Unlock()
	if client != nil && method != revision.MethodPing {
		defer client.Suspend()()
	}
	return h.Handler.Request(ctx, call, method, params)
}

// Closed implements [runtime.Handler].
func (h *connHandler) Closed(err error) {
	h.mu.Lock()
	h.ended, h.err = true, err
	established := h.client != nil
	h.mu.Unlock()
	if established {
		h.Handler.Closed(err)
	}
}

// keep makes the transport the connection's. It may have ended already.
func (h *connHandler) keep(client *runtime.Client) {
	h.mu.Lock()
	h.client = client
	ended, err := h.ended, h.err
	h.mu.Unlock()
	if ended {
		h.Handler.Closed(err)
	}
}

// forwarder forwards the bridge's messages to the handler of the connection.
type forwarder dialer

// Notification implements [runtime.Handler].
func (f *forwarder) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	f.conn.Notification(ctx, call, method, params)
}

// Request implements [runtime.Handler].
func (f *forwarder) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	return f.conn.Request(ctx, call, method, params)
}

// Closed does nothing: the bare transport reports the end.
func (*forwarder) Closed(error) {}
