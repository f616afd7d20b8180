package httpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

var _ router.ReplyTo = (*post)(nil)

// post is one POST of an HTTP client with requests in it, waiting for its
// answer. What comes before the answer goes on the same stream.
type post struct {
	stream  stream
	session *session          // nil: a request without one
	seen    upstream.Audience // by its principal, and without a session through its view
	r       *http.Request     // which it has come with
	id      []byte            // the client's own, raw, valid while the handler runs
	accepts accept
	// version is the revision of a request without a session, "" for unknown.
	version string
}

func newPost(unsent *limits.Counter, s *session, seen upstream.Audience, r *http.Request, id []byte, version string, accepts accept) *post {
	x := &post{session: s, seen: seen, r: r, id: id, version: version, accepts: accepts}
	if s != nil {
		s.sender.Client.SetWho(seen.Who)
	}
	x.stream.start(unsent)
	return x
}

// request serves one request. The answer is JSON, unless something comes before
// it or it takes long; then it is a stream.
func (h *Streamable) request(w http.ResponseWriter, r *http.Request, x *post, body []byte, m *rawjson.Message) {
	s, goesOn := x.session, false
	if !s.enter() {
		busy(w, http.StatusTooManyRequests, m.ID.Of(body), "too many requests of this session are being answered: try again later")
		return
	}
	defer func() {
		if !goesOn {
			s.leave()
		}
	}()
	var call router.Fast
	if string(m.Method.Of(body)) == `"tools/call"` {
		call = h.p.Router.FastCall(body, m, x, time.Now())
		switch {
		case call.Err != nil:
			a, status := router.Failed(revision.MethodToolsCall, call.Err), http.StatusOK
			if a.Scopes != nil {
				status = h.o.AccessControl.Lacking(w.Header(), a.Scopes)
			}
			write(w, status, router.Frame(nil, m.ID.Of(body), a))
			return
		case call.Conn != nil:
			call.Conn.Flush()
			h.await(w, r, x)
			return
		}
	}
	method, ok := rawjson.String(body, m.Method)
	if !ok {
		refuse(w, http.StatusBadRequest, m.ID.Of(body), runtime.CodeInvalidRequest, "method is not a string")
		return
	}
	if method == "initialize" {
		if s != nil {
			write(w, http.StatusBadRequest, router.Frame(nil, m.ID.Of(body), router.Failed(method, client.ErrInitialized)))
			return
		}
		h.initialize(w, r, x, body, m)
		return
	}
	line, free, err := h.p.Budget.Hold(body)
	if err != nil {
		busy(w, http.StatusServiceUnavailable, m.ID.Of(body), err.Error())
		return
	}
	goesOn = true
	h.serveLong(w, r, x, &router.Request{Line: line, Msg: new(*m), Method: method, Begun: call.Begun}, func() {
		free()
		s.leave()
	})
}

// serveLong serves a request on a goroutine of its own. It goes on when the client
// has gone: "disconnection SHOULD NOT be interpreted as the client cancelling
// its request" (2025-11-25, Transports). It calls free in the end.
func (h *Streamable) serveLong(w http.ResponseWriter, r *http.Request, x *post, req *router.Request, free func()) {
	id := req.Msg.ID.Of(req.Line)
	ctx, done := h.lifetime, func() {}
	if x.session != nil {
		ctx, done = x.session.sender.InProgress.Start(x.session.lifetime, id)
	}
	// While the client is there Streamable.post counts the request; later this does.
	var over atomic.Bool // the client has gone, or the request has ended
	ended := func() {
		done()
		free()
		if over.Swap(true) {
			h.serving.Add(-1)
		}
	}
	req.From = x.Caller()
	if !h.work.Go(func() { // ends with its context: the session's or the endpoint's
		defer ended()
		a := h.p.Router.Serve(ctx, req)
		if deadline.Cause(ctx) == upstream.ErrCancelled { //nolint:errorlint // set by identity
			x.stream.finish(nil)
			return
		}
		w := answering
		if a.Scopes != nil {
			w = lacking
		}
		x.stream.finishAs(w, router.Frame(nil, id, a))
	}) {
		ended()
	}
	h.await(w, r, x)
	h.serving.Add(1)
	if over.Swap(true) {
		h.serving.Add(-1)
	}
}

func (h *Streamable) initialize(w http.ResponseWriter, r *http.Request, x *post, body []byte, m *rawjson.Message) {
	address := h.o.address(r)
	x.seen, _ = h.p.Router.Views.OfInitialize(address, x.seen.Who, m.Params.Of(body))
	a := h.p.Router.Serve(r.Context(), &router.Request{Line: body, Msg: new(*m), Method: "initialize", From: x.Caller()})
	if a.Object == nil {
		s := h.Sessions.open(h.lifetime, h.p, x.seen, address)
		if s == nil {
			busy(w, http.StatusServiceUnavailable, m.ID.Of(body), "too many sessions are in use: try again later")
			return
		}
		_ = s.sender.Client.SetTerms(body, m) // the session is new
		w.Header().Set("Mcp-Session-Id", s.id)
	}
	x.stream.finish(router.Frame(nil, m.ID.Of(body), a))
	h.await(w, r, x)
}

// await writes what comes for a post.
func (h *Streamable) await(w http.ResponseWriter, r *http.Request, x *post) {
	o := eventWriter{h: h, w: w, r: r, s: &x.stream, session: x.session, kind: ofPost, accepts: x.accepts, id: x.id}
	o.run()
}

// emit sends a notification that belongs to the request.
func (x *post) emit(method string, params []byte) {
	_ = x.stream.push(jsonrpc.AppendNotification(nil, method, params), priorityOf(method)) // see maxQueued
}

// ask puts a question to the client on the request's own stream, "not on the
// GET stream", and waits for the answer, which comes as a POST, or for the end of
// the request.
func (x *post) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := x.stream.until()
	go func() { // ends with ctx, and so with the question
		select {
		case <-ended:
			cancel(errStreamEnded)
		case <-ctx.Done():
		}
	}()
	asked := false
	return x.session.sender.Client.Ask(ctx, func(frame []byte) error {
		err := x.stream.push(frame, heavy)
		if asked && err != nil {
			return x.session.push(frame) // that the question is withdrawn
		}
		asked = true
		return err
	}, method, params)
}

// pause ends the connection for a while, where the client can resume.
func (x *post) pause(retry time.Duration) {
	if x.session.polls() {
		x.stream.rest(retry)
	}
}

func (x *post) Caller() upstream.Caller {
	from := x.session.Caller()
	from.Audience, from.Peer = x.Audience(), x.Peer()
	if x.session == nil {
		from.Version = x.version
	}
	if !x.accepts.events {
		return from
	}
	from.Emit = x.emit
	if x.session != nil {
		from.Ask, from.Pause, from.Stream = x.ask, x.pause, &x.stream
	}
	return from
}

func (x *post) Client() *upstream.Client {
	if x.session == nil {
		return nil
	}
	return x.session.sender.Client
}

// Peer returns the way on which it has come.
func (x *post) Peer() client.Peer { return peerOf(x.r) }

// Audience returns that of the session, with the credential of the request, which may be newer.
func (x *post) Audience() (a upstream.Audience) {
	if x.session == nil {
		return x.seen
	}
	a = x.session.sender.Client.Audience()
	a.Who = x.seen.Who
	return a
}

func (x *post) Revision() string {
	if x.session == nil {
		return x.version
	}
	return x.session.sender.Client.Revision()
}

func (x *post) Finished(c *router.FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	x.stream.finish(framed(c, a))
	return nil
}

// framed returns the answer to a call in a buffer of its own.
func framed(c *router.FastCall, a jsonrpc.Answer) []byte {
	converted := c.Answer(a)
	return router.Frame(make([]byte, 0, len(converted.Result)+len(converted.Object)+len(c.ID)+64), c.ID, converted)
}

func (x *post) Ended(_ *router.FastCall, cancelled bool) {
	if cancelled {
		x.stream.finish(nil)
	}
}

func (x *post) Progressed(_ *router.FastCall, params []byte) *jsonrpc.Writer {
	if x.accepts.events {
		x.emit(revision.NotificationProgress, params)
	}
	return nil
}
