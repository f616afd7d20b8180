package router

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

var tokens atomic.Uint64 //nolint:gochecknoglobals // mints tokens that are unique in the process

func mintToken() json.RawMessage {
	return append(strconv.AppendUint([]byte(`"p`), tokens.Add(1), 10), '"')
}

// within returns an edit of params for a span of the whole message.
func within(params, at rawjson.Span, text []byte) rawjson.Edit {
	return rawjson.Edit{Span: rawjson.Span{Start: at.Start - params.Start, End: at.End - params.Start}, New: text}
}

// ordered sorts two edits by place, in place.
func ordered(edits []rawjson.Edit) []rawjson.Edit {
	if len(edits) == 2 && edits[0].Start > edits[1].Start {
		edits[0], edits[1] = edits[1], edits[0]
	}
	return edits
}

// forward sends the request to a backend with its params spliced, and returns
// the result or the server's error in the client's revision.
func (r *Request) forward(ctx context.Context, b *upstream.Backend, edits ...rawjson.Edit) ([]byte, error) {
	return r.exchange(ctx, b, edits, func(ctx context.Context, build upstream.BuildRequest) ([]byte, *upstream.Conn, error) {
		return b.Call(ctx, &r.From, build)
	})
}

// exchange makes the backend's request, has it sent and makes the client's
// answer of the backend's.
func (r *Request) exchange(ctx context.Context, b *upstream.Backend, edits []rawjson.Edit, send func(context.Context, upstream.BuildRequest) ([]byte, *upstream.Conn, error)) ([]byte, error) {
	from := r.From // an attempt's own: an earlier connection may still use its own
	if from.Modern() {
		level, err := r.askedLevel()
		if err != nil {
			return nil, err
		}
		from.Level = level
	}
	ctx, clock := deadline.Start(ctx, b.Config().RequestTimeout, limits.RequestCeiling)
	defer clock.Stop()
	from.Refuse = clock.End
	events := Relay{serverRequests: r.rt.serverRequests, clock: clock, From: &from}
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
	result, conn, err := send(ctx, func(c *upstream.Conn) (*runtime.Request, upstream.Waiter, error) {
		e := events // an earlier connection may still use its own
		e.conn = c
		req := &runtime.Request{Method: r.Method, Params: params, Token: token, Mirror: revision.ParamHeaders(r.Header), Events: &e}
		if r.to != nil {
			req.TaskSupport = r.to.Support
		}
		e.setTasks(c, req)
		if token == nil && r.returns && !c.Modern() {
			if err := e.wantProgress(req); err != nil {
				return nil, nil, err
			}
		}
		return req, &e, e.adapt(ctx, c, req)
	})
	r.judged.Answered(result, err)
	if err == nil {
		return r.converted(b, conn, result)
	}
	var rpc *runtime.Error
	switch {
	case errors.As(deadline.Cause(ctx), &rpc): // refused
		return nil, rpc
	case clock.Expired():
		err = &runtime.TimeoutError{Op: r.Method, After: clock.Bound().Round(time.Millisecond)}
	case ctx.Err() != nil:
		return nil, deadline.Err(ctx)
	case errors.As(err, &rpc) && !isRefusal(err):
		return r.convertedError(conn, rpc)
	}
	return nil, b.Fail(b.ExplainClosed(err))
}

// isRefusal reports whether a server wants other credentials: what it says with that
// is no answer to the request.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*runtime.AuthError](err)
	return refused
}

// Relay passes what a backend sends inside a call on to the client.
type Relay struct {
	runtime.NopHandler
	serverRequests *interaction.ServerRequests
	clock          *deadline.IdleTimeout
	token          []byte // the client's own progress token, nil for none
	From           *upstream.Caller
	conn           *upstream.Conn // that the call goes over

	progress progressGate // used by the connection's reader alone

	ends []func() // called when the request has ended; guarded by the connection's lock
}

var (
	_ upstream.Waiter = (*Relay)(nil)
	_ runtime.Handler = (*Relay)(nil)
)

// adapt makes a request fit the connection's era. To a modern server each request
// says what the client can be asked, and which log lines it wants; one of the
// handshake era knows, or learns now.
func (e *Relay) adapt(ctx context.Context, c *upstream.Conn, req *runtime.Request) error {
	if !c.Modern() {
		if e.From.Modern() && e.From.Level < revision.LevelNone {
			interaction.TellLevel(ctx, c, e.From.Level)
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
	return setMeta(req, revision.MetaLogLevel, []byte(`"`+level.String()+`"`))
}

// setMeta sets a member of the metadata of a request.
func setMeta(req *runtime.Request, name string, value []byte) error {
	params, err := rawjson.SetNested(req.Params, "_meta", []rawjson.Member{{Name: name, Value: value}})
	if err != nil {
		return upstream.Invalid("params: %v", err)
	}
	req.Params = params
	return nil
}

// Caller returns the client.
func (e *Relay) Caller() upstream.Caller { return *e.From }

// OnEnd sets the function that Ended calls.
func (e *Relay) OnEnd(f func()) { e.ends = append(e.ends, f) }

// Ended calls what OnEnd was given.
func (e *Relay) Ended() {
	for _, f := range e.ends {
		f()
	}
}

// Suspend stops the clock of the request.
func (e *Relay) Suspend() (resume func()) { return e.clock.Suspend() }

// Notification passes progress and log lines on that the client wants.
func (e *Relay) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationProgress:
		e.clock.Alive()
		if out := e.progress.Restore(params, e.token); out != nil && e.From.Emit != nil {
			e.From.Emit(method, out)
		}
	case revision.NotificationMessage:
		if e.From.Emit != nil && revision.LevelOf(params) >= interaction.Wanted(e.From, e.conn) {
			e.From.Emit(method, params)
		}
	}
}

// Paused pauses the client's stream of the call while the server's is ended for
// a while; transports call it.
func (e *Relay) Paused(retry time.Duration) {
	if e.From.Pause != nil {
		e.From.Pause(retry)
	}
}

// Request puts a question of the server to the client.
func (e *Relay) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return e.NopHandler.Request(ctx, call, method, params)
	}
	if s := e.conn.Slot; s.Owner == nil && !s.Exclusive {
		s.Backend.Pool.SetAsksClients(e.conn, false)
	}
	defer e.clock.Suspend()()
	return e.serverRequests.Put(ctx, e.conn, e.From, method, params)
}
