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

// served is what a backend has answered.
type served struct {
	// result is what the backend has answered, in the client's revision; nil
	// with an error.
	result []byte
	// by is the connection that served the request: its revision tells how the
	// result, or the server's error, is to be read. Nil where none could be had.
	by *connection
}

// forward sends a request to a backend with its params spliced and waits for
// the result, which it gives in the client's revision, as it does with a
// server's error. With an error, by is told all the same.
func (p *Proxy) forward(ctx context.Context, b *backend, r request, edits ...rawjson.Edit) (served, error) {
	level, err := silent, error(nil)
	if r.from.modern() {
		if level, err = r.askedLevel(); err != nil {
			return served{}, err
		}
	}
	ctx, clock := deadline.Start(ctx, b.set().RequestTimeout, requestCeiling)
	defer clock.Stop()
	events := &relay{method: r.method, clock: clock, from: &r.from, level: level, refuse: clock.End}
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
	s, err := b.call(ctx, events, func(c *connection) (*runtime.Request, error) {
		req := &runtime.Request{Method: r.method, Params: params, Token: token, Mirror: repeated(r.header)}
		if r.to != nil {
			req.TaskSupport = r.to.support
		}
		events.taskSupport(c, req)
		if token == nil && r.returns && !c.modern() {
			if err := events.wantProgress(req); err != nil {
				return nil, err
			}
		}
		return req, events.suit(ctx, c, req)
	})
	if err == nil {
		return p.converted(b, &r, s)
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
		return p.convertedError(&r, s, rpc)
	}
	return s, &backendError{server: b.name, err: b.blame(err)}
}

// suit makes a request fit the connection's era. A modern server is told with
// each request what the client can be asked, and which lines of its log the
// client wants; one of the handshake era has been told, or is told now.
func (e *relay) suit(ctx context.Context, c *connection, req *runtime.Request) error {
	if !c.modern() {
		if e.level < silent {
			c.tellLevel(ctx, e.level)
		}
		return nil
	}
	req.Inputs = e.from.modern()
	req.Capabilities = json.RawMessage(`{}`)
	if e.from.modern() || e.from.ask != nil {
		req.Capabilities = revision.Offer(e.from.capabilities, e.from.version, c.version)
	}
	req.Capabilities = c.link.b.p.withRoots(req.Capabilities)
	if e.from.modern() || e.from.peer == nil {
		return nil
	}
	level, ok := e.from.peer.belongings.logLevel()
	if !ok {
		return nil
	}
	params, err := rawjson.SetNested(req.Params, "_meta", []rawjson.Member{{Name: logLevelMeta, Value: []byte(`"` + levels()[level] + `"`)}})
	if err != nil {
		return invalid("params: %v", err)
	}
	req.Params = params
	return nil
}

// relay passes what a backend sends inside a call on to the client.
type relay struct {
	runtime.NopHandler
	method string // the client's
	clock  *deadline.Clock
	token  []byte // the client's own progress token, nil for none
	from   *caller
	level  level           // what a modern client wants to have of the server's log
	conn   *connection     // that the call goes over
	refuse func(err error) // ends the call with an error of ours

	progress increase // the reader's alone

	ends []func() // to be called when it has ended; guarded by the connection's lock
}

// Notification implements [runtime.Handler].
func (e *relay) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		e.clock.Alive()
		if out := e.progress.restore(params, e.token); out != nil && e.from.emit != nil {
			e.from.emit(method, out)
		}
	case "notifications/message":
		if e.from.emit != nil && gravity(params) >= e.wanted(e.conn) {
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
	if l := e.conn.link; l.owner == nil && !l.exclusive {
		l.b.asked(e.conn, false)
	}
	defer e.clock.Suspend()()
	return e.conn.put(ctx, e.from, e.refuse, method, params)
}
