package stdioserver

import (
	"bytes"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// fastLine is a fast call of a client on a pair of streams.
type fastLine struct {
	router.PendingFastCall
	f    *server
	line []byte
	msg  rawjson.Message
}

// fastCall starts a call, or answers it; else it needs a goroutine. The line is the call's
// to keep.
func (f *server) fastCall(line []byte, m *rawjson.Message, seen upstream.Audience, now time.Time) router.Fast {
	l := &fastLine{f: f, line: line, msg: *m}
	l.Who, l.Capabilities, l.Responder = seen, m.MetaCapabilities.Of(line), l
	f.load.begin(len(line))
	call := f.p.Router.FastCallModern(line, m, &l.PendingFastCall, nil, now)
	if call.Err != nil {
		f.send(router.Frame(nil, m.ID.Of(line), f.p.Router.FailedModern(revision.MethodToolsCall, call.Err)))
	}
	if call.Conn == nil {
		f.load.end(len(line))
	}
	return call
}

func (l *fastLine) Answer(framed *bytes.Buffer) *jsonrpc.Writer {
	defer l.f.load.end(len(l.line))
	defer limits.Release(framed)
	if l.f.out.Append(framed.Bytes()) != nil {
		return nil // the client is gone
	}
	return l.f.out
}

func (l *fastLine) Left(cancelled bool) {
	if !cancelled {
		l.f.refuse(l.msg.ID.Of(l.line))
	}
	l.f.load.end(len(l.line))
}

// Peer implements [router.Responder].
func (l *fastLine) Peer() client.Peer { return peer() }

func (l *fastLine) Park() {
	f := l.f
	r := &router.Request{Line: l.line, Msg: &l.msg, Method: revision.MethodToolsCall}
	id := r.Msg.ID.Of(r.Line)
	go func() { // counted by begin; Serve settles or ends it by f.serving
		defer f.load.end(len(l.line))
		ctx, done := f.sender.InProgress.Start(f.serving, id)
		defer done()
		r.From = r.ModernCaller(func(method string, params []byte) {
			if ctx.Err() == nil { // as in modern
				f.Notify(method, params)
			}
		})
		r.From.Audience, r.From.Peer = l.Who, peer()
		a, ok := f.p.Router.ContinueParked(ctx, &l.PendingFastCall, r)
		if ok || ctx.Err() != nil {
			reply(ctx, f, id, a)
		}
	}()
}
