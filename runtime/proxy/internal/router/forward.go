package router

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/questions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

var tokens atomic.Uint64 //nolint:gochecknoglobals // mints tokens that are unique in the process

func mintToken() json.RawMessage {
	return append(strconv.AppendUint([]byte(`"p`), tokens.Add(1), 10), '"')
}

// reply is what a backend has answered.
type reply struct {
	// result is what the backend has answered, in the client's revision; nil
	// with an error.
	result []byte
	// by is the connection that served the request: its revision tells how the
	// result, or the server's error, is to be read. Nil where none could be had.
	by *upstream.Conn
}

// Forward sends a request to a backend with its params spliced and waits for
// the result, which it returns in the client's revision, as it does with a
// server's error. With an error, by is told all the same.
func (rt *Router) Forward(ctx context.Context, b *upstream.Backend, r Request, edits ...rawjson.Edit) (reply, error) {
	return rt.exchange(ctx, b, r, edits, func(ctx context.Context, build upstream.BuildRequest) ([]byte, *upstream.Conn, error) {
		return b.Call(ctx, &r.From, build)
	})
}

// resume is forward for a request that a connection has sent, and the server has
// answered once: what follows from the answer is what would follow from it had the
// request been forwarded.
func (rt *Router) resume(ctx context.Context, c *upstream.Conn, first outcome, r Request, edits ...rawjson.Edit) (reply, error) {
	return rt.exchange(ctx, c.Slot.Backend, r, edits, func(ctx context.Context, build upstream.BuildRequest) ([]byte, *upstream.Conn, error) {
		result, err := c.Resume(ctx, build, first.result, first.err)
		return result, c, err
	})
}

// exchange makes the request that a backend gets, has it sent and makes the
// client's answer of the backend's.
func (rt *Router) exchange(ctx context.Context, b *upstream.Backend, r Request, edits []rawjson.Edit, send func(context.Context, upstream.BuildRequest) ([]byte, *upstream.Conn, error)) (reply, error) {
	if r.From.Modern() {
		level, err := r.askedLevel()
		if err != nil {
			return reply{}, err
		}
		r.From.Level = level
	}
	ctx, clock := deadline.Start(ctx, b.Config().RequestTimeout, limits.RequestCeiling)
	defer clock.Stop()
	r.From.Refuse = clock.End
	events := Relay{desk: rt.desk, clock: clock, From: &r.From}
	var token json.RawMessage
	if r.Msg.MetaToken.Present() {
		// Never the client's own: it could be that of another's call.
		events.token = r.Msg.MetaToken.Of(r.Line)
		token = mintToken()
		edits = ordered(append(edits, within(r.Msg.Params, r.Msg.MetaToken, token)))
	}
	var params json.RawMessage
	if r.Msg.Params.Present() {
		params = rawjson.Splice(nil, r.params(), edits...)
	}
	result, by, err := send(ctx, func(c *upstream.Conn) (*runtime.Request, upstream.Waiter, error) {
		e := events // an earlier connection may still be at its own
		e.conn = c
		req := &runtime.Request{Method: r.Method, Params: params, Token: token, Mirror: repeated(r.Header), Events: &e}
		if r.to != nil {
			req.TaskSupport = r.to.Support
		}
		e.taskSupport(c, req)
		if token == nil && r.returns && !c.Modern() {
			if err := e.wantProgress(req); err != nil {
				return nil, nil, err
			}
		}
		return req, &e, e.suit(ctx, c, req)
	})
	s := reply{result, by}
	if err == nil {
		return rt.converted(b, &r, s)
	}
	var rpc *runtime.Error
	switch {
	case errors.As(context.Cause(ctx), &rpc): // refused
		return s, rpc
	case clock.Expired():
		err = &runtime.TimeoutError{Op: r.Method, After: clock.Bound().Round(time.Millisecond)}
	case ctx.Err() != nil:
		return s, ctx.Err()
	case errors.As(err, &rpc):
		return rt.convertedError(&r, s, rpc)
	}
	return s, &upstream.Error{Server: b.Name, Err: b.ExplainClosed(err)}
}

// suit makes a request fit the connection's era. A modern server is told with
// each request what the client can be asked, and which lines of its log the
// client wants; one of the handshake era has been told, or is told now.
func (e *Relay) suit(ctx context.Context, c *upstream.Conn, req *runtime.Request) error {
	if !c.Modern() {
		if e.From.Modern() && e.From.Level < revision.LevelNone {
			questions.TellLevel(ctx, c, e.From.Level)
		}
		return nil
	}
	req.Inputs = e.From.Modern()
	req.Capabilities = json.RawMessage(`{}`)
	if e.From.Modern() || e.From.Ask != nil {
		req.Capabilities = revision.Offer(e.From.Capabilities, e.From.Version, c.Version)
	}
	req.Capabilities = c.Slot.Backend.Set.WithRoots(req.Capabilities)
	if e.From.Modern() || e.From.Client == nil {
		return nil
	}
	level, ok := e.From.Client.State.LogLevel()
	if !ok {
		return nil
	}
	params, err := rawjson.SetNested(req.Params, "_meta", []rawjson.Member{{Name: revision.MetaLogLevel, Value: []byte(`"` + level.String() + `"`)}})
	if err != nil {
		return upstream.Invalid("params: %v", err)
	}
	req.Params = params
	return nil
}

// Relay passes what a backend sends inside a call on to the client.
type Relay struct {
	runtime.NopHandler
	desk  *questions.Desk
	clock *deadline.Clock
	token []byte // the client's own progress token, nil for none
	From  *upstream.Origin
	conn  *upstream.Conn // that the call goes over

	progress progressGate // the reader's alone

	ends []func() // to be called when it has ended; guarded by the connection's lock
}

// Origin implements [upstream.Waiter].
func (e *Relay) Origin() upstream.Origin { return *e.From }

// OnEnd implements [upstream.Waiter].
func (e *Relay) OnEnd(f func()) { e.ends = append(e.ends, f) }

// Ended implements [upstream.Waiter].
func (e *Relay) Ended() {
	for _, f := range e.ends {
		f()
	}
}

// Suspend implements [upstream.Waiter].
func (e *Relay) Suspend() (resume func()) { return e.clock.Suspend() }

// Notification implements [runtime.Handler].
func (e *Relay) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationProgress:
		e.clock.Alive()
		if out := e.progress.restore(params, e.token); out != nil && e.From.Emit != nil {
			e.From.Emit(method, out)
		}
	case revision.NotificationMessage:
		if e.From.Emit != nil && revision.LevelOf(params) >= questions.Wanted(e.From, e.conn) {
			e.From.Emit(method, params)
		}
	}
}

// Paused is called by transports whose server ends the stream of a call for a
// while: the client's does, too.
func (e *Relay) Paused(retry time.Duration) {
	if e.From.Pause != nil {
		e.From.Pause(retry)
	}
}

// Request implements [runtime.Handler].
func (e *Relay) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return e.NopHandler.Request(ctx, call, method, params)
	}
	if l := e.conn.Slot; l.Owner == nil && !l.Exclusive {
		l.Backend.SetAsksClients(e.conn, false)
	}
	defer e.clock.Suspend()()
	return e.desk.Put(ctx, e.conn, e.From, method, params)
}
