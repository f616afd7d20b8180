package proxy

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
	by *Conn
}

// forward sends a request to a backend with its params spliced and waits for
// the result, which it returns in the client's revision, as it does with a
// server's error. With an error, by is told all the same.
func (rt *Router) forward(ctx context.Context, b *Backend, r Request, edits ...rawjson.Edit) (reply, error) {
	return rt.exchange(ctx, b, r, edits, func(ctx context.Context, build buildRequest) ([]byte, *Conn, error) {
		return b.call(ctx, &r.from, build)
	})
}

// resume is forward for a request that a connection has sent, and the server has
// answered once: what follows from the answer is what would follow from it had the
// request been forwarded.
func (rt *Router) resume(ctx context.Context, c *Conn, first outcome, r Request, edits ...rawjson.Edit) (reply, error) {
	return rt.exchange(ctx, c.slot.backend, r, edits, func(ctx context.Context, build buildRequest) ([]byte, *Conn, error) {
		result, err := c.resume(ctx, build, first.result, first.err)
		return result, c, err
	})
}

// exchange makes the request that a backend gets, has it sent and makes the
// client's answer of the backend's.
func (rt *Router) exchange(ctx context.Context, b *Backend, r Request, edits []rawjson.Edit, send func(context.Context, buildRequest) ([]byte, *Conn, error)) (reply, error) {
	if r.from.modern() {
		level, err := r.askedLevel()
		if err != nil {
			return reply{}, err
		}
		r.from.level = level
	}
	ctx, clock := deadline.Start(ctx, b.config().RequestTimeout, requestCeiling)
	defer clock.Stop()
	r.from.refuse = clock.End
	events := relay{desk: rt.desk, clock: clock, from: &r.from}
	var token json.RawMessage
	if r.msg.MetaToken.Present() {
		// Never the client's own: it could be that of another's call.
		events.token = r.msg.MetaToken.Of(r.line)
		token = mintToken()
		edits = ordered(append(edits, within(r.msg.Params, r.msg.MetaToken, token)))
	}
	var params json.RawMessage
	if r.msg.Params.Present() {
		params = rawjson.Splice(nil, r.params(), edits...)
	}
	result, by, err := send(ctx, func(c *Conn) (*runtime.Request, Waiter, error) {
		e := events // an earlier connection may still be at its own
		e.conn = c
		req := &runtime.Request{Method: r.method, Params: params, Token: token, Mirror: repeated(r.header), Events: &e}
		if r.to != nil {
			req.TaskSupport = r.to.support
		}
		e.taskSupport(c, req)
		if token == nil && r.returns && !c.modern() {
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
		err = &runtime.TimeoutError{Op: r.method, After: clock.Bound().Round(time.Millisecond)}
	case ctx.Err() != nil:
		return s, ctx.Err()
	case errors.As(err, &rpc):
		return rt.convertedError(&r, s, rpc)
	}
	return s, &backendError{server: b.name, err: b.explainClosed(err)}
}

// suit makes a request fit the connection's era. A modern server is told with
// each request what the client can be asked, and which lines of its log the
// client wants; one of the handshake era has been told, or is told now.
func (e *relay) suit(ctx context.Context, c *Conn, req *runtime.Request) error {
	if !c.modern() {
		if e.from.modern() && e.from.level < revision.LevelNone {
			tellLevel(ctx, c, e.from.level)
		}
		return nil
	}
	req.Inputs = e.from.modern()
	req.Capabilities = json.RawMessage(`{}`)
	if e.from.modern() || e.from.ask != nil {
		req.Capabilities = revision.Offer(e.from.capabilities, e.from.version, c.version)
	}
	req.Capabilities = c.slot.backend.set.withRoots(req.Capabilities)
	if e.from.modern() || e.from.client == nil {
		return nil
	}
	level, ok := e.from.client.state.logLevel()
	if !ok {
		return nil
	}
	params, err := rawjson.SetNested(req.Params, "_meta", []rawjson.Member{{Name: revision.MetaLogLevel, Value: []byte(`"` + level.String() + `"`)}})
	if err != nil {
		return invalid("params: %v", err)
	}
	req.Params = params
	return nil
}

// relay passes what a backend sends inside a call on to the client.
type relay struct {
	runtime.NopHandler
	desk  *Desk
	clock *deadline.Clock
	token []byte // the client's own progress token, nil for none
	from  *Origin
	conn  *Conn // that the call goes over

	progress progressGate // the reader's alone

	ends []func() // to be called when it has ended; guarded by the connection's lock
}

// origin implements waiter.
func (e *relay) origin() Origin { return *e.from }

// onEnd implements waiter.
func (e *relay) onEnd(f func()) { e.ends = append(e.ends, f) }

// ended implements waiter.
func (e *relay) ended() {
	for _, f := range e.ends {
		f()
	}
}

// suspend implements waiter.
func (e *relay) suspend() (resume func()) { return e.clock.Suspend() }

// Notification implements [runtime.Handler].
func (e *relay) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationProgress:
		e.clock.Alive()
		if out := e.progress.restore(params, e.token); out != nil && e.from.emit != nil {
			e.from.emit(method, out)
		}
	case revision.NotificationMessage:
		if e.from.emit != nil && revision.LevelOf(params) >= wanted(e.from, e.conn) {
			e.from.emit(method, params)
		}
	}
}

// Paused is called by transports whose server ends the stream of a call for a
// while: the client's does, too.
func (e *relay) Paused(retry time.Duration) {
	if e.from.pause != nil {
		e.from.pause(retry)
	}
}

// Request implements [runtime.Handler].
func (e *relay) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return e.NopHandler.Request(ctx, call, method, params)
	}
	if l := e.conn.slot; l.owner == nil && !l.exclusive {
		l.backend.setAsksClients(e.conn, false)
	}
	defer e.clock.Suspend()()
	return e.desk.put(ctx, e.conn, e.from, method, params)
}
