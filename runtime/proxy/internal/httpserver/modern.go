package httpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// modern serves a POST of the stateless era: one message, answered on its own
// connection, whose end is the cancel of the request.
func (h *Streamable) modern(w http.ResponseWriter, r *http.Request, principal *access.Principal, accepts accept, body []byte, m *rawjson.Message) {
	if !m.ID.Present() { // a notification: there is none that means anything here
		w.WriteHeader(http.StatusAccepted)
		return
	}
	id := m.ID.Of(body)
	if !h.p.Ready() {
		refuseDraining(w, id)
		return
	}
	h.arrived()
	defer h.left()
	method, refusal := endpoint.Admit(body, m, r.Header)
	if refusal != nil {
		write(w, refusal.Status, refusal.Frame())
		return
	}
	seen, _ := h.p.Router.Views.OfRequest(h.o.address(r), principal, m.Meta.Of(body))
	var begun journal.Ticket
	if method == revision.MethodToolsCall && !accepts.streams() {
		var served bool
		if served, begun = h.fastCall(w, r, seen, accepts, body, m); served {
			return
		}
	}
	x := &modernPost{h: h, w: w, accepts: accepts, wake: make(chan struct{}, 1)}
	defer x.close()
	if method == revision.MethodDiscover {
		if a, now := h.p.Router.Discovery(seen); now {
			x.finish(id, a)
			return
		}
	}
	req := &router.Request{Line: bytes.Clone(body), Msg: new(*m), Method: method, Header: r.Header, Begun: begun}
	req.From = req.ModernCaller(x.push)
	req.From.Audience, req.From.Peer = seen, peerOf(r)
	if method == revision.MethodSubscriptionsListen {
		h.modernListen(r.Context(), x, principal, req)
		return
	}
	h.serveModern(r, x, id, func(ctx context.Context) (router.Answer, bool) { return h.p.Router.ServeModern(ctx, req), true })
}

// serveModern writes what comes for a request and its answer. serve returns that,
// and false for none.
func (h *Streamable) serveModern(r *http.Request, x *modernPost, id []byte, serve func(context.Context) (router.Answer, bool)) {
	// The request's own context ends without a cause: if it ended this one, too, that would race
	// with await for the reason that the server is told.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	answered, silent := make(chan router.Answer, 1), false
	if !h.work.Go(func() { // ends with serve's context, and is waited for below
		a, ok := serve(ctx)
		silent = !ok
		answered <- a
	}) {
		answered <- router.Failed("", upstream.ErrProxyClosed)
	}
	a, why := await(x, r, answered)
	if why != nil {
		cancel(why)
		<-answered
	} else {
		x.flush()
	}
	switch {
	case silent:
	case why == nil:
		x.finish(id, a)
	case errors.Is(why, upstream.ErrProxyClosed):
		x.sendClosed(id)
	}
}

// await writes what comes before the answer and returns the answer, or why there
// is none. The choice between JSON and a stream falls with the first message, or
// after a while of silence.
func await[T any](x *modernPost, r *http.Request, answered <-chan T) (a T, why error) {
	timer := x.h.timer(streamAfter)
	defer x.h.doneWith(timer)
	for {
		select {
		case a = <-answered:
			return a, nil
		case <-x.wake:
			x.flush()
			timer.Reset(limits.KeepAlive)
		case <-timer.C:
			x.comment()
			timer.Reset(limits.KeepAlive)
		case <-r.Context().Done():
			return a, upstream.ErrCancelled
		case <-x.h.lifetime.Done():
			return a, upstream.ErrProxyClosed
		}
	}
}

// maxWindow bounds the messages that a client has not taken yet, beside their bytes.
const maxWindow = 64

// modernPost carries messages to an HTTP client of the stateless era while its request
// lasts. They wait until the request's own goroutine writes them, so that no reader of
// a backend waits for a client.
type modernPost struct {
	h       *Streamable
	w       http.ResponseWriter
	accepts accept
	wake    chan struct{}
	out     *sseWriter // nil until the answer has become a stream of events
	unblock func()     // with out

	mu      sync.Mutex // guards what follows
	waiting []message
	bytes   int32 // of waiting
	closed  bool
}

// message is one framed notification.
type message struct {
	framed   []byte
	progress bool
}

// push queues a notification. At the bound the oldest progress is dropped, since newer
// progress says more; where none waits, the new message.
func (x *modernPost) push(method string, params []byte) {
	if !x.accepts.events {
		return
	}
	m := message{jsonrpc.AppendNotification(nil, method, params), method == revision.NotificationProgress}
	x.mu.Lock()
	most := limits.MaxQueuedBytes
	if x.h.p.Budget.Unsent.Full() {
		most = limits.FairShare
	}
	for len(x.waiting) >= maxWindow || int(x.bytes)+len(m.framed) > most {
		if !x.dropProgress() {
			x.mu.Unlock()
			return
		}
	}
	if x.closed {
		x.mu.Unlock()
		return
	}
	x.waiting = append(x.waiting, m)
	x.count(len(m.framed))
	x.mu.Unlock()
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// count adds to the bytes that wait. The caller holds the lock.
func (x *modernPost) count(n int) {
	x.bytes += int32(n) //nolint:gosec // limits.MaxQueuedBytes at most
	x.h.p.Budget.Unsent.Add(n)
}

// dropProgress removes the oldest progress, false where none waits. The caller
// holds the lock.
func (x *modernPost) dropProgress() bool {
	for i := range x.waiting {
		if x.waiting[i].progress {
			x.count(-len(x.waiting[i].framed))
			x.waiting = append(x.waiting[:i], x.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// flush writes what waits.
func (x *modernPost) flush() {
	x.mu.Lock()
	all := x.waiting
	x.waiting = nil
	x.count(-int(x.bytes))
	x.mu.Unlock()
	for _, m := range all {
		x.event(m.framed)
	}
}

// open makes the answer a stream of events, once.
func (x *modernPost) open() {
	if x.out != nil {
		return
	}
	x.out, x.unblock = events(x.h.lifetime, x.w)
}

// close drops what waits, and ends the stream.
func (x *modernPost) close() {
	x.mu.Lock()
	x.closed, x.waiting = true, nil
	x.count(-int(x.bytes))
	x.mu.Unlock()
	if x.unblock != nil {
		x.unblock()
	}
}

func (x *modernPost) event(framed []byte) {
	x.open()
	x.out.event("", bytes.TrimRight(framed, "\n"))
	_ = x.out.flush() // the request's context ends where the client has gone
}

// comment keeps the connection alive.
func (x *modernPost) comment() {
	if x.accepts.events {
		x.open()
		x.out.comment()
	} else {
		clearReadDeadline(x.w)
	}
}

// finish writes the answer: as the last event where a stream has begun or the
// client prefers one, else as JSON. An error is JSON if it can be, because only then
// it has a status of its own.
func (x *modernPost) finish(id []byte, a router.Answer) {
	if a.Object == nil && x.accepts.streams() {
		x.open()
	}
	status := endpoint.StatusFor(a)
	if a.Scopes != nil && x.out == nil {
		status = x.h.o.AccessControl.Lacking(x.w.Header(), a.Scopes)
	}
	x.send(id, a, status)
}

func (x *modernPost) send(id []byte, a router.Answer, status int) {
	framed := router.Frame(nil, id, a)
	if x.out != nil {
		x.event(framed)
		return
	}
	writeUntil(x.h.lifetime, x.w, x.accepts, status, framed)
}

// sendClosed answers a request that the endpoint's end has cut short.
func (x *modernPost) sendClosed(id []byte) {
	x.send(id, router.Failed("", upstream.ErrProxyClosed), http.StatusServiceUnavailable)
}

// modernListen serves a listen over HTTP: a stream from the start.
func (h *Streamable) modernListen(ctx context.Context, x *modernPost, principal *access.Principal, r *router.Request) {
	f, err := r.FilterOf()
	if err != nil {
		x.finish(r.Msg.ID.Of(r.Line), h.p.Router.FailedModern(r.Method, err))
		return
	}
	defer h.streams.Add(-1)
	if h.streams.Add(1) > limits.MaxStreams {
		busy(x.w, http.StatusServiceUnavailable, r.Msg.ID.Of(r.Line), "too many streams are open: try again later")
		return
	}
	clearReadDeadline(x.w)
	h.serving.Add(-1) // it lasts until its client ends it
	defer h.serving.Add(1)
	ctx, over := h.active.Within(ctx, principal)
	defer over()
	ended := make(chan struct{})
	if h.work.Go(func() {
		defer close(ended)
		h.p.Router.ListenModern(ctx, r, f, subscriptions.Channel{Send: x.event, Idle: x.comment, End: h.lifetime.Done()})
	}) {
		<-ended
	}
}
