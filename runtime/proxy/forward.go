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
)

var tokens atomic.Uint64 //nolint:gochecknoglobals // mints tokens that are unique in the process

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
	ctx, clock := deadline.Start(ctx, p.o.RequestTimeout, requestCeiling)
	defer clock.Stop()
	events := &relay{clock: clock, from: &r.from}
	out := &runtime.Request{Method: r.method, Events: events}
	if r.msg.MetaToken.Present() {
		// Never the client's own: it could be that of another's call.
		token := r.msg.MetaToken.Of(r.line)
		out.Token = strconv.AppendUint([]byte(`"p`), tokens.Add(1), 10)
		out.Token = append(out.Token, '"')
		edits = ordered(append(edits, within(r.msg.Params, r.msg.MetaToken, out.Token)))
		events.token = token
	}
	if r.msg.Params.Present() {
		out.Params = rawjson.Splice(nil, r.params(), edits...)
	}
	s, err := b.call(ctx, &r.from, out)
	if err == nil {
		return p.converted(b, &r, s)
	}
	var rpc *runtime.Error
	switch {
	case clock.Expired():
		err = &runtime.TimeoutError{Op: r.method, After: p.o.RequestTimeout.Round(time.Millisecond)}
	case ctx.Err() != nil:
		return s, ctx.Err()
	case errors.As(err, &rpc):
		return p.convertedError(&r, s, rpc)
	}
	return s, &backendError{server: b.name, err: err}
}

// relay passes what a backend sends inside a call on to the client.
type relay struct {
	runtime.NopHandler
	clock *deadline.Clock
	token []byte // the client's own progress token, nil for none
	from  *caller
}

// Notification implements [runtime.Handler].
func (e *relay) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		e.clock.Alive()
		if out := restoreToken(params, e.token); out != nil && e.from.emit != nil {
			e.from.emit(method, out)
		}
	case "notifications/message":
		if e.from.emit != nil {
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
	if method == "ping" || e.from.ask == nil {
		return e.NopHandler.Request(ctx, call, method, params)
	}
	defer e.clock.Suspend()()
	return e.from.ask(ctx, method, params)
}
