package proxy

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/internal/sse"
)

const (
	// silence is how long an answer may take before it becomes a stream, whose
	// comments keep the way open.
	silence = 5 * time.Second
	// keepAlive is how often a quiet stream gets a comment.
	keepAlive = 15 * time.Second
	// maxEvents bounds the messages before the answer that a client has not
	// taken; further ones are dropped.
	maxEvents = 64
)

// exchange is one request of an HTTP client, waiting for its answer.
type exchange struct {
	session  *session    // nil: a request without one
	id       []byte      // the client's own, raw, valid while the request is served
	answered chan []byte // one framed answer; nil: cancelled, there is none
	events   chan []byte // framed messages that come before the answer
}

// request serves one request. The answer is JSON, unless progress comes first
// or it takes long: then it is a stream.
func (h *HTTPFront) request(w http.ResponseWriter, r *http.Request, s *session, body []byte, m *rawjson.Message) {
	method, ok := rawjson.String(body, m.Method)
	if !ok {
		refuse(w, http.StatusBadRequest, m.ID.Of(body), runtime.CodeInvalidRequest, "method is not a string")
		return
	}
	if method == "initialize" {
		h.initialize(w, r, body, m)
		return
	}
	x := &exchange{session: s, id: m.ID.Of(body), answered: make(chan []byte, 1), events: make(chan []byte, maxEvents)}
	if method == "tools/call" {
		conn, taken, err := h.p.quick(body, m, x)
		switch {
		case err != nil:
			write(w, http.StatusOK, frame(nil, m.ID.Of(body), failed(method, err)))
			return
		case taken:
			conn.Flush()
			h.await(w, r, x)
			return
		}
	}
	h.slowly(w, r, x, request{line: bytes.Clone(body), msg: new(*m), method: method})
}

// slowly serves a request on a goroutine of its own. With a session it goes on
// when the client has gone: "disconnection SHOULD NOT be interpreted as the
// client cancelling its request" (2025-11-25, Transports). Without one nobody
// could ever fetch the answer.
func (h *HTTPFront) slowly(w http.ResponseWriter, r *http.Request, x *exchange, req request) {
	id := req.msg.ID.Of(req.line)
	ctx, done := r.Context(), func() {}
	if x.session != nil {
		ctx, done = x.session.slow.begin(x.session.lifetime, id)
	}
	req.from = x.caller()
	go func() { // ends with its context: the session's or the request's
		defer done()
		a := h.p.serve(ctx, req)
		if context.Cause(ctx) == errCancelled { //nolint:errorlint // set by identity
			x.answered <- nil
			return
		}
		x.answered <- frame(nil, id, a)
	}()
	h.await(w, r, x)
}

func (h *HTTPFront) initialize(w http.ResponseWriter, r *http.Request, body []byte, m *rawjson.Message) {
	a := h.p.serve(r.Context(), request{line: body, msg: m, method: "initialize"})
	if a.object == nil {
		s := h.sessions.open(h.p)
		s.peer.greeted(greeting(body, m))
		w.Header().Set("Mcp-Session-Id", s.id)
	}
	write(w, http.StatusOK, frame(nil, m.ID.Of(body), a))
}

// await writes what comes for an exchange.
func (h *HTTPFront) await(w http.ResponseWriter, r *http.Request, x *exchange) {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	var out *stream
	for {
		select {
		case a := <-x.answered:
			if a != nil && len(x.events) > 0 {
				out = out.open(w) // it came first
			}
			switch {
			case a == nil && out == nil:
				w.WriteHeader(http.StatusAccepted)
			case a == nil:
			case out == nil:
				write(w, http.StatusOK, a)
			default:
				x.drain(out)
				out.event(a)
			}
			return
		case p := <-x.events:
			out = out.open(w)
			out.event(p)
			timer.Reset(keepAlive)
		case <-timer.C:
			out = out.open(w)
			out.comment()
			timer.Reset(keepAlive)
		case <-r.Context().Done():
			return
		case <-h.done:
			x.cut(w, out)
			return
		}
	}
}

// cut ends an exchange whose answer cannot be waited for, as the proxy ends.
func (x *exchange) cut(w http.ResponseWriter, out *stream) {
	a := jsonrpc.AppendError(nil, x.id, jsonrpc.ErrorObject(runtime.CodeInternalError, errProxyClosed.Error(), nil))
	if out == nil {
		write(w, http.StatusServiceUnavailable, a)
		return
	}
	out.event(a)
}

// drain writes the progress that came before the answer.
func (x *exchange) drain(out *stream) {
	for {
		select {
		case p := <-x.events:
			out.event(p)
		default:
			return
		}
	}
}

func (x *exchange) push(method string, params []byte) {
	select {
	case x.events <- jsonrpc.AppendNotification(nil, method, params):
	default:
	}
}

// caller implements receiver.
func (x *exchange) caller() caller {
	from := x.session.caller()
	from.emit = x.push
	return from
}

// whose implements receiver.
func (x *exchange) whose() *peer {
	if x.session == nil {
		return nil
	}
	return x.session.peer
}

// deliver implements receiver.
func (x *exchange) deliver(c *call, a answer) *jsonrpc.Writer {
	x.answered <- frame(make([]byte, 0, len(a.result)+len(a.object)+len(c.id)+64), c.id, a)
	return nil
}

// progressed implements receiver.
func (x *exchange) progressed(_ *call, params []byte) *jsonrpc.Writer {
	x.push("notifications/progress", params)
	return nil
}

// stream is an answer that has become server-sent events.
type stream struct {
	w http.ResponseWriter
	f *http.ResponseController
}

// open sends the headers; on a stream that is open it does nothing.
func (s *stream) open(w http.ResponseWriter) *stream {
	if s != nil {
		return s
	}
	head := w.Header()
	head["Content-Type"], head["Cache-Control"], head["X-Accel-Buffering"] = sseType, noStore, noBuffer
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, f: http.NewResponseController(w)}
}

func (s *stream) event(framed []byte) {
	s.send(sse.AppendEvent(nil, sse.Event{Name: "message", Data: bytes.TrimRight(framed, "\n")}))
}

func (s *stream) comment() { s.send(sse.AppendComment(nil, "keep-alive")) }

func (s *stream) send(b []byte) {
	// A client that has gone is noticed by the request's context.
	_, _ = s.w.Write(b)
	_ = s.f.Flush()
}
