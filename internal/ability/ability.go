// Package ability names what a transport, a handler or an error may be able to
// do beyond its interface. A user asserts the ability it needs:
//
//	if p, ok := t.(ability.PID); ok { … }
//
// and each implementation has a guard beside its method, so that a changed
// signature does not compile instead of being passed over:
//
//	var _ ability.PID = (*Stdio)(nil)
package ability

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime"
)

// Abilities of transports.
type (
	// Pipeline is a transport over a pipe whose calls can be started and finished
	// without a goroutine; nil where this one's cannot.
	Pipeline interface{ Pipeline() *jsonrpc.Conn }

	// Resume is a wrapper that can take over a call which was sent past it, over
	// the Pipeline. The request is the one that would have been given to Call;
	// result or err is what the server has answered to it. What follows from the
	// answer (questions, further rounds, waiting for a task) is as in Call.
	Resume interface {
		Resume(ctx context.Context, req *runtime.Request, result json.RawMessage, err error) (json.RawMessage, error)
	}

	// Remote reports whether the server is reached over HTTP.
	Remote interface{ Remote() bool }

	// PID returns the server's process, 0 where it is none of ours.
	PID interface{ PID() int }

	// MalformedLines returns how many lines of the server were no messages.
	MalformedLines interface{ MalformedLines() int }

	// Alive returns a channel that is closed by the server's first sign of life.
	Alive interface{ Alive() <-chan struct{} }

	// Unwrap returns the transport inside a wrapper.
	Unwrap interface{ Unwrap() runtime.Transport }

	// Listen opens the stream for what belongs to no call, in the background; it
	// ends with ctx.
	Listen interface{ Listen(ctx context.Context) }

	// Listening returns a channel that is closed once that stream is open, nil
	// where there is none.
	Listening interface{ Listening() <-chan struct{} }

	// SessionID returns the id of the HTTP session, "" where the server gave none.
	SessionID interface{ SessionID() string }

	// ResetSession forgets the HTTP session, for a new handshake.
	ResetSession interface{ ResetSession() }

	// OnSessionLost sets what is called when the server no longer knows the
	// session of the stream that Listen has opened.
	OnSessionLost interface{ OnSessionLost(f func()) }

	// TaskOf returns who is to be asked what belongs to a task, by the params of a
	// question; nil where they name none.
	TaskOf interface {
		TaskOf(params json.RawMessage) runtime.Handler
	}
)

// Sessionless reports whether a connection over HTTP that began with a handshake
// has no session.
func Sessionless(t runtime.Transport) bool {
	for range 4 { // wrappers
		if s, ok := t.(SessionID); ok {
			return s.SessionID() == ""
		}
		u, ok := t.(Unwrap)
		if !ok {
			return false
		}
		t = u.Unwrap()
	}
	return false
}

// Paused is a handler of a call's events that is told when the server ends the
// stream of the call for a while.
type Paused interface{ Paused(retry time.Duration) }

// Abilities of errors, found by errors.As.
type (
	// HTTPStatus returns the status that the server answered with.
	HTTPStatus interface{ HTTPStatus() int }

	// HTTPBody returns the printable beginning of that answer's body.
	HTTPBody interface{ HTTPBody() string }

	// AuthServer returns the answer's header Mcp-Auth-Server, "" without one.
	AuthServer interface{ AuthServer() string }

	// SessionExpired reports whether the server has forgotten the session.
	SessionExpired interface{ SessionExpired() bool }

	// ExitKind names the kind of failure by which the command line chooses its
	// exit code.
	ExitKind interface{ ExitKind() string }

	// StderrLines returns the last lines that a server's process wrote.
	StderrLines interface{ StderrLines() []string }
)

type sentKey struct{}

// WithSent returns a context for a call. f is called, perhaps more than once, when the
// call has been sent to the server, by transports that know.
func WithSent(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, sentKey{}, f)
}

// Sent returns what is to be called when a call has been sent, nil for nothing.
func Sent(ctx context.Context) func() {
	f, _ := ctx.Value(sentKey{}).(func())
	return f
}
