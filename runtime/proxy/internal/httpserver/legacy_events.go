package httpserver

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// pollAfter is when a client whose connection is gone is to come back,
	// where a server does not say.
	pollAfter = 500 * time.Millisecond
	// shortestPoll is the least time that a connection lasts which takes a
	// stream up again: whoever comes back gets something done.
	shortestPoll = time.Second
)

// eventWriter writes a stream to a client's connection.
type eventWriter struct {
	h       *Streamable
	w       http.ResponseWriter
	r       *http.Request
	s       *stream
	session *session // nil: the stream cannot be taken up again
	kind    byte
	accepts accept
	resumed bool
	id      []byte // of the request, for an answer of our own

	out     *sseWriter // nil until the answer has become a stream of events
	unblock func()
	holder  chan struct{}
}

// run writes until the stream or the connection ends.
func (o *eventWriter) run() {
	defer func() {
		o.s.detach(o.holder)
		if o.unblock != nil {
			o.unblock()
		}
	}()
	quiet := o.h.timer(streamAfter)
	defer o.h.doneWith(quiet)
	if o.accepts.streams() {
		o.open()
	}
	if o.out != nil {
		quiet.Reset(limits.KeepAlive)
	}
	var age <-chan time.Time
	if limit := o.age(); limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		age = t.C
	}
	over := o.over().Done()
	for {
		select {
		case <-o.s.wake:
			if o.r.Context().Err() != nil {
				return // what has come is for the next connection
			}
			n := o.s.take(o.holder, o.session != nil)
			if n.ended && len(n.events) == 0 && o.over().Err() != nil {
				o.cut() // the end of the session has dropped the answer
				return
			}
			if o.write(n) {
				return
			}
			if o.out != nil {
				quiet.Reset(limits.KeepAlive)
			}
		case <-quiet.C:
			if !o.accepts.events {
				clearReadDeadline(o.w)
				continue
			}
			o.open()
			o.out.comment()
			quiet.Reset(limits.KeepAlive)
		case <-age:
			o.open()
			o.s.rest(pollAfter)
		case <-o.holder:
			return
		case <-o.r.Context().Done():
			return
		case <-over:
			o.cut()
			return
		}
	}
}

// over returns a context that ends with the session, or the endpoint.
func (o *eventWriter) over() context.Context {
	if o.session != nil {
		return o.session.lifetime
	}
	return o.h.lifetime
}

// age returns when the connection is to end for its age, 0 for never.
func (o *eventWriter) age() time.Duration {
	limit := o.h.o.StreamMax
	if limit <= 0 || !o.accepts.events || !o.session.polls() {
		return 0
	}
	if o.resumed {
		return max(limit, shortestPoll)
	}
	return limit
}

// write sends what has come and reports whether that was the end.
func (o *eventWriter) write(n news) (end bool) {
	switch {
	case n.gone:
		return true
	case n.open && o.out == nil:
		o.open()
		return false
	case o.out == nil && n.ended && len(n.events) == 0:
		o.w.WriteHeader(http.StatusAccepted) // cancelled: there is no answer
		return true
	case o.out == nil && n.ended && len(n.events) == 1 && n.events[0].priority >= answering:
		status := http.StatusOK
		if n.events[0].priority == lacking {
			status = o.h.o.AccessControl.Lacking(o.w.Header(), authorize.ScopesIn(n.events[0].data))
		}
		writeUntil(o.over(), o.w, o.accepts, status, n.events[0].data)
		return true
	case len(n.events) == 0 && n.pause == nil:
		return n.ended
	}
	o.open()
	for _, q := range n.events {
		o.out.event(o.eventID(q.n), q.line())
	}
	if n.pause != nil {
		o.out.mark(o.eventID(n.n), *n.pause)
	}
	if o.out.flush() != nil {
		o.s.untake(o.holder, n.events)
		return true
	}
	return n.ended || n.pause != nil
}

func (o *eventWriter) eventID(n uint64) string {
	if o.holder == nil {
		return ""
	}
	return eventID(o.s.name, n)
}

// open makes the answer a stream of events, once. In a session the stream is kept,
// and an event with an id and no data says so to a client of 2025-11-25 or later;
// older ones do not expect it.
func (o *eventWriter) open() {
	if o.out != nil {
		return
	}
	o.out, o.unblock = events(o.over(), o.w)
	if o.session == nil || o.holder != nil {
		return
	}
	o.holder = o.session.replay.keep(o.s, o.kind)
	if o.session.polls() {
		o.out.mark(o.eventID(0), pollAfter)
		_ = o.out.flush() // the request's context tells that the client has gone
	}
}

// cut answers a request in place of the server.
func (o *eventWriter) cut() {
	if o.kind != ofPost || o.resumed {
		return
	}
	reason := upstream.ErrSessionEnded
	if o.h.lifetime.Err() != nil {
		reason = upstream.ErrProxyClosed
	}
	a := jsonrpc.AppendError(nil, o.id, jsonrpc.ErrorObject(runtime.CodeInternalError, reason.Error(), nil))
	if o.out == nil {
		write(o.w, http.StatusServiceUnavailable, a)
		return
	}
	o.out.event("", bytes.TrimRight(a, "\n"))
	_ = o.out.flush() // the client may be gone
}
