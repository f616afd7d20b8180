package proxy

import (
	"bytes"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// fastLine is a direct call of a client on a pair of streams.
type fastLine struct {
	pendingFastCall
	f    *stdioFront
	line []byte
	msg  rawjson.Message
}

// direct starts a call on the quick path; false where the slow one is to be
// taken. The line is the call's to keep.
func (f *stdioFront) direct(line []byte, m *rawjson.Message, now time.Time) (*jsonrpc.Conn, bool) {
	l := &fastLine{f: f, line: line, msg: *m}
	l.capabilities, l.front = m.MetaCapabilities.Of(line), l
	f.begin(len(line))
	conn, taken, err := f.p.rt.fastCallModern(line, m, &l.pendingFastCall, nil, now)
	switch {
	case err != nil:
		f.send(frame(nil, m.ID.Of(line), f.p.rt.failedModern(revision.MethodToolsCall, err)))
		f.end(len(line))
	case !taken:
		f.end(len(line))
	}
	return conn, taken
}

// answer implements directFront.
func (l *fastLine) answer(framed *bytes.Buffer) *jsonrpc.Writer {
	defer l.f.end(len(l.line))
	defer release(framed)
	if l.f.out.Append(framed.Bytes()) != nil {
		return nil // the client is gone
	}
	return l.f.out
}

// cancelled implements directFront.
func (l *fastLine) cancelled() { l.f.end(len(l.line)) }

// park implements directFront.
func (l *fastLine) park() {
	f := l.f
	r := Request{line: l.line, msg: &l.msg, method: revision.MethodToolsCall}
	id := r.msg.ID.Of(r.line)
	go func() { // counted by begin; ServeStdio settles or ends it by f.lifetime
		defer f.end(len(l.line))
		ctx, done := f.slow.begin(f.lifetime, id)
		defer done()
		r.from = modernCaller(&r, func(method string, params []byte) {
			if ctx.Err() == nil { // as in modern
				f.notify(method, params)
			}
		})
		a, ok := f.p.rt.continueParked(ctx, &l.pendingFastCall, r)
		if ok && ctx.Err() == nil && f.out.Wait() == nil {
			f.respond(id, a)
		}
	}()
}
