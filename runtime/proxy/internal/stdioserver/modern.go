package stdioserver

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
)

// modern serves a request of the stateless era, which may come between those of
// a session. Its id is known before the next message is read, so that a
// cancellation finds it. It returns the backend connection that it has put a call
// into, to be flushed.
func (f *server) modern(line []byte, m rawjson.Message, now time.Time) *jsonrpc.Conn {
	f.speaksModern.Store(true)
	id := m.ID.Of(line)
	method, refusal := endpoint.Admit(line, &m, nil)
	if refusal != nil {
		f.send(refusal.Frame())
		return nil
	}
	seen, _ := f.p.Router.Views.OfRequest(f.o.View, nil, m.Meta.Of(line))
	f.p.Router.Start(seen)
	if method == revision.MethodDiscover {
		if a, now := f.p.Router.Discovery(seen); now {
			f.send(router.Frame(nil, id, a))
			return nil
		}
	}
	line = bytes.Clone(line)
	var call router.Fast
	if method == revision.MethodToolsCall {
		if call = f.fastCall(line, &m, seen, now); call.Conn != nil || call.Err != nil {
			return call.Conn
		}
	}
	r := &router.Request{Line: line, Msg: new(m), Method: method, Begun: call.Begun}
	id = m.ID.Of(line)
	lifetime := f.serving
	if method == revision.MethodSubscriptionsListen {
		lifetime = context.WithoutCancel(lifetime) // the client is told of its end: see endListens
	}
	ctx, done := f.sender.InProgress.Start(lifetime, id)
	r.From = r.ModernCaller(func(method string, params []byte) {
		if ctx.Err() == nil { // after a cancel nothing more (specification, Cancellation)
			f.Notify(method, params)
		}
	})
	r.From.Audience, r.From.Peer = seen, peer()
	if method == revision.MethodSubscriptionsListen {
		f.modernListen(ctx, done, r)
		return nil
	}
	f.load.begin(len(line))
	f.answer(ctx, done, r, f.p.Router.ServeModern)
	return nil
}

// maxListening bounds the listens of one client at a time: they are not counted as
// requests in flight, which end by themselves.
const maxListening = 256

// unasked sends a client of the handshake era what it has not subscribed to; one
// that has sent only requests of the stateless era gets none of it.
type unasked struct{ *server }

func (u unasked) Notify(method string, params []byte) {
	if u.Revision() != "" || !u.speaksModern.Load() {
		u.server.Notify(method, params)
	}
}

// modernListen serves a listen. Where it ends on our side, with the endpoint at the latest, the
// client is told in both ways that the specification names, since its pages disagree
// (2026-07-28, Cancellation and Subscriptions).
func (f *server) modernListen(ctx context.Context, done func(), r *router.Request) {
	id := r.Msg.ID.Of(r.Line)
	filter, err := r.FilterOf()
	if err != nil {
		done()
		f.send(router.Frame(nil, id, f.p.Router.FailedModern(r.Method, err)))
		return
	}
	if f.listens.n.Add(1) > maxListening {
		f.listens.n.Add(-1)
		done()
		f.send(endpoint.Invalid(id, fmt.Sprintf("there are %d listens already", maxListening)))
		return
	}
	f.listens.Go(func() { // waited for when the endpoint ends
		defer done()
		defer f.listens.n.Add(-1)
		farewell := func(reason string) []byte {
			params := append(rawjson.Quote(append(append([]byte(`{"requestId":`), id...), `,"reason":`...), reason), '}')
			return jsonrpc.AppendNotification(nil, revision.NotificationCancelled, params)
		}
		f.p.Router.ListenModern(ctx, r, filter, subscriptions.Channel{
			Send: f.send, Idle: func() {}, End: f.ending, Farewell: farewell,
		})
	})
}

// endListens ends the listens and waits until the client has been told.
func (f *server) endListens() {
	close(f.ending)
	f.listens.Wait()
}
