package router

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// FastCall is a tools/call on its way to a connected stdio backend. It owns no
// goroutine, channel or timer; it is pooled, and whoever removes it from the
// pipe's pending calls ends it.
type FastCall struct {
	query   jsonrpc.Call
	edits   [2]rawjson.Edit
	scratch [24]byte

	rt      *Router
	backend *upstream.Backend
	ID      []byte // the client's own id, raw
	token   []byte // the client's own progress token, raw; empty for none
	replyTo ReplyTo
	// principal is who calls, nil where nobody is asked; that of a PendingFastCall is there.
	principal *access.Principal

	// eras are the revisions of the connection and of the client.
	eras struct{ server, client string }
	// start is zero if the call was not sent, answeredAt if it was not answered;
	// failed reports no answer, or an error.
	start, answeredAt time.Time
	failed            bool

	progress progressGate
	ends     []func() // called when it has ended; guarded by the pipe's lock

	ticket journal.Ticket // of its record; that of a PendingFastCall is there
}

var (
	_ jsonrpc.Receiver  = (*FastCall)(nil)
	_ upstream.Inflight = (*FastCall)(nil)
)

// ReplyTo is where a call comes from and its answer goes back to: all that the
// router knows of an endpoint.
type ReplyTo interface {
	// Finished appends the answer to the client's output and returns that output,
	// nil if nothing is to be flushed. It runs where jsonrpc.Receiver's Finish
	// does.
	Finished(c *FastCall, a jsonrpc.Answer) *jsonrpc.Writer
	// Progressed does the same with a progress message.
	Progressed(c *FastCall, params []byte) *jsonrpc.Writer
	// Caller returns the client as its requests carry it, and the way back to it
	// while the call is pending.
	Caller() upstream.Caller
	// Client returns the client's session, nil for none, Revision what it speaks,
	// Audience who asks, and through which view.
	Client() *upstream.Client
	Audience() upstream.Audience
	Revision() string
	// Peer returns the way on which the call has come.
	Peer() client.Peer
	// Ended reports that the call was ended without an answer: cancelled by the
	// client, or with its session.
	Ended(c *FastCall, cancelled bool)
}

var calls = sync.Pool{New: func() any { return new(FastCall) }} //nolint:gochecknoglobals // a pool of scratch space

// Fast is what has become of a call that may be fast.
type Fast struct {
	// Conn is where the call is on its way, to be flushed. Nil: it was not started.
	Conn *jsonrpc.Conn
	// Err is what it is answered with.
	Err error
	// Begun is for [Request.Begun] where the call has to be served otherwise: Conn and Err
	// are nil.
	Begun journal.Ticket
}

// FastCall starts a call that has nothing to wait for: the name is known and its
// backend connected over stdio. now is when the message was read.
func (rt *Router) FastCall(line []byte, m *rawjson.Message, to ReplyTo, now time.Time) Fast {
	if m.MetaVersion.Present() || m.Meta.Present() && ofProtocol(m.Meta.Of(line)) {
		return Fast{}
	}
	from := to.Audience()
	r := rt.fastRoute(m.Name.Of(line), from)
	if r == nil {
		return Fast{}
	}
	conn, client := r.Backend.LegacyShared.Load(), to.Client()
	if conn == nil && client != nil {
		conn = client.State.ConnTo(r.Backend)
	}
	if conn == nil || conn.Pipe == nil {
		return Fast{}
	}
	ticket, ok, err := rt.admitFast(line, m, r, to)
	switch {
	case !ok:
		return Fast{} // a refusal, too, is recorded where it can wait
	case err != nil:
		return Fast{Err: err}
	}
	if client == nil || conn.FirstClient.Load() != client {
		conn.RecordClient(client)
	}
	c, n := rt.newFastCall(line, m, r, conn, to, now), 1
	c.ticket, c.principal = ticket, from.Who
	c.token = append(c.token[:0], m.MetaToken.Of(line)...)
	if len(c.token) > 0 {
		// The backend gets the call's id for a token: unique, and found without a table.
		c.edits[1] = within(m.Params, m.MetaToken, strconv.AppendUint(c.scratch[:0], c.query.ID, 10))
		n = 2
	}
	return c.send(conn, n, ticket)
}

// fastRoute returns the route of a tool whose calls can be fast, by its raw name, as an
// audience sees it.
func (rt *Router) fastRoute(name []byte, audience upstream.Audience) *catalog.Route {
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 {
		return nil
	}
	c := rt.Catalog.Of(audience)
	r := c.Routes[inventory.Tools][string(name[1:len(name)-1])]
	if r == nil || r.Hooks != nil || r.Support != "" || r.Edit.Looks() || rt.Authorizer.Gate.Guarded() || rt.Authorizer.Journal.Waits() { // a task is waited for, a result looked at
		return nil
	}
	if rt.Catalog.Redefined(audience, c, inventory.Tools, r) {
		return nil // which is refused
	}
	return r
}

// newFastCall returns a pooled call whose first edit is the tool's name.
func (rt *Router) newFastCall(line []byte, m *rawjson.Message, r *catalog.Route, conn *upstream.Conn, to ReplyTo, now time.Time) *FastCall {
	c, _ := calls.Get().(*FastCall)
	c.rt, c.backend, c.replyTo, c.start = rt, r.Backend, to, now
	c.eras.server, c.eras.client = conn.Version, to.Revision()
	c.ID = append(c.ID[:0], m.ID.Of(line)...)
	c.query = jsonrpc.Call{
		ID: conn.Pipe.NextID(), Method: revision.MethodToolsCall, Params: m.Params.Of(line), Now: now,
		Limit: max(r.Backend.Config().RequestTimeout, 0), Ceiling: limits.RequestCeiling, Receiver: c,
	}
	c.edits[0] = within(m.Params, m.Name, r.Quoted)
	return c
}

// send starts the call with n of its edits. It returns what FastCall does.
func (c *FastCall) send(conn *upstream.Conn, n int, begun journal.Ticket) Fast {
	b := c.backend
	c.query.Edits = ordered(c.edits[:n])
	b.Activity.Began(c.start)
	err := conn.Pipe.Start(&c.query)
	if err == nil {
		return Fast{Conn: conn.Pipe}
	}
	authorizer := c.rt.Authorizer
	b.Activity.Withdrawn()
	c.start = time.Time{}
	c.free()
	if errors.Is(err, jsonrpc.ErrFull) || errors.Is(err, jsonrpc.ErrBusy) {
		return Fast{Err: cmp.Or(authorizer.End(begun, nil, err), error(b.Fail(err)))}
	}
	return Fast{Begun: begun} // the connection is gone: the caller makes a new one
}

// ofProtocol reports whether metadata may hold what the protocol owns: a server
// that speaks both eras must not see the other's. Escapes can hide it.
func ofProtocol(meta []byte) bool {
	return bytes.Contains(meta, []byte("io.modelcontextprotocol/")) || bytes.IndexByte(meta, '\\') >= 0
}

// free returns an ended call to the pool. Nothing may refer to it any more.
func (c *FastCall) free() {
	for _, f := range c.ends {
		f()
	}
	if !c.start.IsZero() {
		if c.answeredAt.IsZero() {
			c.answeredAt = time.Now()
		}
		c.backend.Activity.Ended(c.start, c.answeredAt, c.failed)
	}
	*c = FastCall{ID: c.ID[:0], token: c.token[:0]}
	calls.Put(c)
}

// Finish passes the server's answer on and frees the call.
func (c *FastCall) Finish(a jsonrpc.Answer) *jsonrpc.Writer {
	defer c.free()
	c.answeredAt, c.failed = a.At, a.Err != nil || a.Error != nil
	c.backend.Activity.Results.Record(a.Result)
	return c.replyTo.Finished(c, a)
}

// Event passes progress on to a client that has asked for it.
func (c *FastCall) Event(method string, params []byte) *jsonrpc.Writer {
	if method != revision.NotificationProgress {
		return nil
	}
	if out := c.progress.Restore(params, c.token); out != nil {
		return c.replyTo.Progressed(c, out)
	}
	return nil
}

// Caller returns the client.
func (c *FastCall) Caller() upstream.Caller { return c.replyTo.Caller() }

// OnEnd calls f when the call ends.
func (c *FastCall) OnEnd(f func()) { c.ends = append(c.ends, f) }

// Answer returns the answer in the client's revision, with the URIs that clients
// know, once that is recorded. If nothing is to be changed it allocates nothing.
func (c *FastCall) Answer(a jsonrpc.Answer) Answer {
	out := c.converted(a)
	if c.ticket.N == 0 {
		return out
	}
	if err := c.rt.Authorizer.End(c.ticket, a.Result, failureOf(a)); err != nil {
		return Failed(revision.MethodToolsCall, err)
	}
	return out
}

// failureOf returns what a call has failed with, nil for a result.
func failureOf(a jsonrpc.Answer) error {
	switch {
	case errors.Is(a.Err, jsonrpc.ErrTimeout):
		return &runtime.TimeoutError{}
	case a.Error != nil:
		return &runtime.Error{}
	}
	return a.Err
}

// timeoutError is the error of a call that was not answered in time.
func (c *FastCall) timeoutError() error {
	return &runtime.TimeoutError{Op: revision.MethodToolsCall, After: cmp.Or(c.query.Limit, c.query.Ceiling)}
}

// converted returns the answer in the client's revision.
func (c *FastCall) converted(a jsonrpc.Answer) Answer {
	if errors.Is(a.Err, jsonrpc.ErrTimeout) {
		a.Err = c.timeoutError()
	}
	if a.Err != nil {
		return Failed(revision.MethodToolsCall, c.backend.Fail(c.backend.ExplainClosed(a.Err)))
	}
	to := revision.Conversion{From: c.eras.server, To: c.eras.client, Method: revision.MethodToolsCall}
	if a.Error != nil {
		if bytes.Contains(a.Error, []byte("-32042")) {
			if err := c.mayBeAsked(); err != nil {
				return Failed(revision.MethodToolsCall, err)
			}
			c.backend.Pool.KeepForAnswers() // revision.CodeURLElicitation: somebody is to open a page
		}
		if c.eras.client == "" || c.eras.client == revision.Latest {
			return Answer{Object: a.Error}
		}
		e := runtime.ParseError(a.Error)
		if to.Error(e) == e {
			return Answer{Object: a.Error}
		}
		return Answer{Result: serverErrorResult(c.backend.Name, e)}
	}
	result := c.rt.Catalog.ExposedContent(c.backend, c.principal, revision.MethodToolsCall, a.Result)
	if !to.Needed() {
		return Answer{Result: result}
	}
	out, err := to.Result(result)
	if err != nil {
		return Failed(revision.MethodToolsCall, c.backend.Fail(err))
	}
	return Answer{Result: out}
}

// CancelFastCall ends the call with a client's id whose ReplyTo is the client's,
// without an answer.
func (rt *Router) CancelFastCall(of func(ReplyTo) bool, id []byte) {
	abandon(rt.Set, upstream.ErrCancelled, func(c *FastCall) bool { return bytes.Equal(c.ID, id) && of(c.replyTo) })
}

// AbandonFastCalls ends all calls whose ReplyTo is one of a client that is gone,
// without an answer.
func (rt *Router) AbandonFastCalls(of func(ReplyTo) bool) {
	for abandon(rt.Set, upstream.ErrSessionEnded, func(c *FastCall) bool { return of(c.replyTo) }) {
	}
}

// abandon ends the first call that matches, without an answer, and reports
// whether there was one. A call that ends by itself meanwhile counts as found.
func abandon(set *upstream.Set, why error, matches func(*FastCall) bool) bool {
	for _, conn := range set.WithPipe() {
		var found *FastCall
		var client *upstream.Client
		n, ok := conn.Pipe.Find(func(r jsonrpc.Receiver) bool {
			if c, isCall := r.(*FastCall); isCall && matches(c) {
				found, client = c, c.replyTo.Client()
			}
			return found != nil
		})
		if !ok {
			continue
		}
		conn.RecordCancelled(client)
		if conn.Pipe.Abandon(n, why.Error()) {
			_ = found.rt.Authorizer.End(found.ticket, nil, why)      // nobody is answered
			found.replyTo.Ended(found, why == upstream.ErrCancelled) //nolint:errorlint // set by identity
			found.free()
		}
		return true
	}
	return false
}
