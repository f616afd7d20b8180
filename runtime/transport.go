package runtime

import (
	"context"
	"encoding/json"
)

// Transport is a connection to one server. All methods may be called
// concurrently. Implementations are in runtime/transport; internal/negotiate wraps
// one to hide the protocol era.
type Transport interface {
	// Call sends a request and waits for its answer. The result is the
	// server's own bytes and belongs to the caller. A JSON-RPC error is an
	// [*Error]. When ctx ends first, Call tells the server that the request is
	// cancelled and returns ctx's error without waiting for an answer.
	// errors.Is(err, ErrNotSent) holds where no byte of the call left this
	// process.
	Call(ctx context.Context, req *Request) (json.RawMessage, error)

	// Notify sends a notification and returns once it is written or queued.
	Notify(ctx context.Context, req *Request) error

	// Close ends the connection and everything that belongs to it: pending
	// calls fail with [ErrClosed], goroutines end, a child process is reaped.
	// It is idempotent.
	Close() error
}

// Request is one call or notification. It is a struct so that it can grow
// without breaking implementations of [Transport].
type Request struct {
	// Method is the JSON-RPC method, such as "tools/call".
	Method string
	// Params is the raw params object; nil sends none.
	Params json.RawMessage
	// ID is the raw JSON-RPC id. Nil: the transport picks one. The transport's
	// own ids are integers, so an id set here should be a string.
	ID json.RawMessage
	// Version is the protocol revision that the message is sent under, ""
	// before negotiation. It decides headers, session and what a cancel means.
	Version string
	// Token is the raw progress token inside Params, nil for none. Where calls
	// have no stream of their own, progress with this token goes to Events.
	Token json.RawMessage
	// Mirror holds values that HTTP transports repeat as headers (Mcp-Method,
	// Mcp-Name, Mcp-Param-*: revision 2026-07-28, Streamable HTTP), encoded for
	// the wire. Others ignore it. A connection that computes its own keeps a
	// caller's Mcp-Param-* that it does not know.
	Mirror map[string]string
	// Capabilities is the client capabilities object that the request is sent
	// under, raw (2026-07-28, Overview, General fields); nil: the connection's
	// own. A connection with a handshake has negotiated it there.
	Capabilities json.RawMessage
	// Inputs reports that the caller handles results that ask for input
	// (resultType "input_required"; 2026-07-28, Multi round-trip requests).
	// Without it the connection passes the questions to Events.Request, and
	// calls again with the answers.
	Inputs bool
	// Tasks reports that the caller handles tasks, in the form of the
	// extension io.modelcontextprotocol/tasks (SEP-2663), whatever the server's
	// revision: a result of tools/call that is a task, and tasks/get, tasks/update
	// and tasks/cancel. Without it the connection waits for the end of a task and
	// returns its result.
	Tasks bool
	// TaskSupport is what the server's list says of the tool that tools/call
	// names: "optional" or "required" (2025-11-25, Tasks, Tool-Level
	// Negotiation); "" where it says nothing or the caller does not know.
	TaskSupport string
	// Events receives what the server sends inside this call. Nil: the
	// transport's own handler gets it. A handler's Paused(retry time.Duration),
	// if it has one, is called when the server ends the stream of the call for a
	// while, to be polled; it must not wait.
	Events Handler
}

// Handler receives what a server sends on its own account. The call is nil
// where the wire does not show which call a message belongs to. Methods are
// called from the transport's reader: an implementation that waits delays
// everything behind it, except in Request, which has a goroutine of its own.
// Params are valid only during the method.
type Handler interface {
	Notification(ctx context.Context, call *Request, method string, params json.RawMessage)
	// Request answers a request of the server. An [*Error] is sent unchanged,
	// any other error as an internal error (-32603).
	Request(ctx context.Context, call *Request, method string, params json.RawMessage) (json.RawMessage, error)
	// Closed is called once, when the connection has ended for any reason.
	Closed(err error)
}

// NopHandler ignores notifications, answers ping, and refuses every other
// request with -32601. Embed it to implement a part.
type NopHandler struct{}

// Notification ignores the message.
func (NopHandler) Notification(context.Context, *Request, string, json.RawMessage) {}

// Request answers "ping" with an empty object, as every party must at once
// (2025-11-25, Utilities, Ping), and anything else with -32601.
func (NopHandler) Request(_ context.Context, _ *Request, method string, _ json.RawMessage) (json.RawMessage, error) {
	if method == "ping" {
		return json.RawMessage(`{}`), nil
	}
	return nil, &Error{Code: CodeMethodNotFound, Message: "method not found: " + method}
}

// Closed does nothing.
func (NopHandler) Closed(error) {}
