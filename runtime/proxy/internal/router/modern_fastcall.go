package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// PendingFastCall is a FastCall of a client of the stateless era to a stdio
// server of the handshake era. It has no goroutine and stands for its client
// while it lasts. If it needs more than a plain result (the server asks
// something, answers with an error or with what is to be asked) it becomes a
// parked call, which can wait for its client (see interaction.SuspendedCalls).
//
// It is not pooled: a question may come late.
type PendingFastCall struct {
	rt           *Router
	conn         *upstream.Conn
	route        *catalog.Route
	Capabilities json.RawMessage // the client's
	Who          upstream.Audience
	Responder    Responder
	id           uint64    // of the call in conn.Pipe
	call         *FastCall // as long as it is pending there

	mu      sync.Mutex     // guards what follows; never held when the pipe is called, which may hold its lock
	ticket  journal.Ticket // of its record, as long as nobody is to end it
	stage   stage
	outcome outcome
	parked  *interaction.Call
	ready   chan struct{} // closed once parked is set, or the call is over; nil if nobody waits
	done    chan struct{} // closed once there is an outcome; nil if nobody waits
}

var _ ReplyTo = (*PendingFastCall)(nil)

// stage is how far a call is.
type stage struct {
	over    bool // the client is answered or gone
	parking bool // Front.Park was called
	settled bool // there is an outcome
}

// outcome is how a call has ended that has no plain result.
type outcome struct {
	result []byte
	// err is the server's, or that of the way to it; why is the proxy's own, and
	// ends the request as it is.
	err, why error
}

// Responder is where a PendingFastCall comes from. Its methods run on the
// reader of the server, or on a goroutine that asks, and must not wait.
type Responder interface {
	// Answer takes the framed answer, and the buffer with it. It returns the output
	// that it has written to, as jsonrpc.Receiver's Finish does.
	Answer(framed *bytes.Buffer) *jsonrpc.Writer
	// Park has Router.ContinueParked called on a goroutine of the endpoint's. The
	// endpoint may still leave instead.
	Park()
	// Peer returns the way on which the call has come.
	Peer() client.Peer
	// Left reports that the call was ended without an answer: cancelled by the
	// client, or with its session.
	Left(cancelled bool)
}

// FastCallModern is FastCall for requests of the stateless era, which have
// passed the checks of package endpoint. p.Capabilities and p.Responder are set; header is that of
// an HTTP request, nil for others.
func (rt *Router) FastCallModern(line []byte, m *rawjson.Message, p *PendingFastCall, header http.Header, now time.Time) Fast {
	if m.MetaToken.Present() || m.MetaLevel.Present() || m.InputResponses.Present() || m.RequestState.Present() {
		return Fast{}
	}
	r := rt.fastRoute(m.Name.Of(line), p.Who)
	if r == nil || header != nil && len(r.Mirrors) > 0 {
		return Fast{}
	}
	conn := r.Backend.ModernShared.Load()
	if conn == nil || p.Who.Who != nil && r.Backend.Config().ByPrincipal() {
		return Fast{}
	}
	ticket, ok, err := rt.admitFast(line, m, r, p)
	switch {
	case !ok:
		return Fast{} // see FastCall
	case err != nil:
		return Fast{Err: err}
	}
	if !conn.Shared.Load() {
		conn.RecordClient(nil)
	}
	c := rt.newFastCall(line, m, r, conn, p, now)
	meta := []byte(`{}`)
	if m.MetaOthers > 0 {
		// What the protocol owns means nothing in the handshake era, or something else.
		if rest, err := rawjson.Without(m.Meta.Of(line), revision.OfProtocol); err == nil {
			meta = rest
		}
	}
	if len(p.Capabilities) > len(`{}`) {
		// The client can come back with answers and a token of its own while the
		// call is on its way: see wantProgress.
		token := strconv.AppendUint(c.scratch[:0], c.query.ID, 10)
		at := rawjson.Insertion(meta, rawjson.Span{Start: rawjson.Bracket(meta), End: len(meta)}, "progressToken", token)
		meta = rawjson.Splice(nil, meta, at)
		c.token = append(c.token[:0], '0') // reports replaces it by the client's
	}
	c.edits[1] = within(m.Params, m.Meta, meta)
	p.rt, p.conn, p.route, p.id, p.call, p.ticket = rt, conn, r, c.query.ID, c, ticket
	return c.send(conn, 2, ticket)
}

// take returns the ticket, for the one who ends it.
func (p *PendingFastCall) take() journal.Ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.ticket
	p.ticket = journal.Ticket{}
	return t
}

// Declared returns a client's capabilities in bytes that nobody else writes to:
// clients declare the same ones over and over, so the last ones are kept.
func (rt *Router) Declared(capabilities []byte) json.RawMessage {
	if last := rt.lastDeclared.Load(); last != nil && bytes.Equal(*last, capabilities) {
		return *last
	}
	own := json.RawMessage(bytes.Clone(capabilities))
	rt.lastDeclared.Store(&own)
	return own
}

// Finished takes the answer of the server.
func (p *PendingFastCall) Finished(c *FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	framed := p.framed(c, a)
	p.mu.Lock()
	var unrecorded error
	if framed != nil && !p.stage.over && !p.stage.parking {
		t := p.ticket
		p.ticket = journal.Ticket{}
		if unrecorded = c.rt.Authorizer.End(t, a.Result, nil); unrecorded == nil {
			p.stage.over = true
			p.mu.Unlock()
			return p.Responder.Answer(framed)
		}
	}
	p.mu.Unlock()
	if framed != nil {
		limits.Release(framed)
	}
	o := outcome{result: bytes.Clone(a.Result), err: a.Err, why: unrecorded}
	switch {
	case errors.Is(a.Err, jsonrpc.ErrTimeout):
		o.err = c.timeoutError()
	case a.Error != nil:
		o.err = runtime.ParseError(bytes.Clone(a.Error))
	}
	p.setOutcome(o)
	return nil
}

// framed returns the whole answer if the server's is a plain result, else nil.
func (p *PendingFastCall) framed(c *FastCall, a jsonrpc.Answer) *bytes.Buffer {
	if a.Err != nil || a.Error != nil {
		return nil
	}
	result := c.rt.Catalog.ExposedContent(c.backend, p.Who.Who, revision.MethodToolsCall, a.Result)
	framed, _ := limits.Bodies.Get().(*bytes.Buffer)
	framed.Grow(len(result) + p.conn.PlainResults.Len() + len(c.ID) + 64)
	b := append(append(append(framed.AvailableBuffer(), `{"jsonrpc":"2.0","id":`...), c.ID...), `,"result":`...)
	at := len(b)
	b, plain := p.conn.PlainResults.Append(b, result)
	if !plain {
		limits.Release(framed)
		return nil
	}
	rawjson.OneLine(b[at:])
	framed.Write(append(b, '}', '\n'))
	return framed
}

// setOutcome sets how the call has ended, once, for the parked call.
func (p *PendingFastCall) setOutcome(o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage.settled {
		return
	}
	p.outcome, p.stage.settled = o, true
	if p.done != nil {
		close(p.done)
	}
	p.parkOnce()
}

// parkOnce has the call parked, once. The caller holds the lock.
func (p *PendingFastCall) parkOnce() {
	if !p.stage.parking && !p.stage.over {
		p.stage.parking = true
		p.Responder.Park()
	}
}

// end ends the client's request and returns what the call had become.
func (p *PendingFastCall) end() (isParking, isParked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	isParked = p.parked != nil
	if p.ready != nil && !isParked && !p.stage.over {
		close(p.ready)
	}
	p.stage.over = true
	return p.stage.parking, isParked
}

// Leave ends the client's request before there is an answer, and the call unless
// it is parked.
func (p *PendingFastCall) Leave(why error) {
	if _, isParked := p.end(); !isParked {
		p.abandon(why)
		_ = p.rt.Authorizer.End(p.take(), nil, why) // nobody is answered
	}
}

// Ended reports the end to the front if that ends the request; else the parked
// call ends it.
func (p *PendingFastCall) Ended(_ *FastCall, cancelled bool) {
	isParking, _ := p.end()
	p.setOutcome(outcome{why: upstream.ErrCancelled})
	if !isParking {
		_ = p.rt.Authorizer.End(p.take(), nil, upstream.ErrCancelled)
		p.Responder.Left(cancelled)
	}
}

// abandon ends the call at the server with an error of the proxy's; it does
// nothing and reports false if the call has ended.
func (p *PendingFastCall) abandon(why error) bool {
	p.conn.RecordCancelled(nil)
	if !p.conn.Pipe.Abandon(p.id, why.Error()) {
		return false
	}
	p.call.free()
	return true
}

// refuse ends the call with an error of the proxy's.
func (p *PendingFastCall) refuse(err error) {
	if p.abandon(err) {
		p.setOutcome(outcome{why: err})
	}
}

// parkedCall returns what the call has become, nil if it is not parked.
func (p *PendingFastCall) parkedCall() *interaction.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parked
}

// IsParked reports whether the call has become one that can wait for its client.
func (p *PendingFastCall) IsParked() bool { return p.parkedCall() != nil }

// ask puts a question of the server to the client, who has to come back for it.
func (p *PendingFastCall) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	if p.stage.over && p.parked == nil {
		p.mu.Unlock()
		return nil, interaction.ErrLost
	}
	if p.ready == nil {
		p.ready = make(chan struct{})
		if p.parked != nil {
			close(p.ready)
		}
	}
	ready := p.ready
	p.parkOnce()
	p.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if call := p.parkedCall(); call != nil {
		return call.Ask(ctx, method, params)
	}
	return nil, interaction.ErrLost
}

// emit sends the client what the server sends inside the call, once parked.
func (p *PendingFastCall) emit(method string, params []byte) {
	if call := p.parkedCall(); call != nil {
		call.Emit(method, params)
	}
}

// wait returns how the call has ended, for the parked call: when ctx ends, so
// does the call.
func (p *PendingFastCall) wait(ctx context.Context) outcome {
	p.mu.Lock()
	if p.done == nil {
		p.done = make(chan struct{})
		if p.stage.settled {
			close(p.done)
		}
	}
	done := p.done
	p.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		if p.abandon(deadline.Cause(ctx)) {
			p.setOutcome(outcome{why: ctx.Err()})
		}
		<-done // the answer has won the race, or setOutcome was just called
	}
	return p.outcome
}

// Caller returns the client, who is asked by parking the call.
func (p *PendingFastCall) Caller() upstream.Caller {
	return upstream.Caller{Version: revision.Modern, Audience: p.Who, Capabilities: p.Capabilities, Level: revision.LevelNone, Emit: p.emit, Ask: p.ask, Refuse: p.refuse, Peer: p.Responder.Peer()}
}

// Client returns nil: requests of the stateless era stand alone.
func (p *PendingFastCall) Client() *upstream.Client { return nil }

// Audience returns who asks.
func (p *PendingFastCall) Audience() upstream.Audience { return p.Who }

// Peer returns the way on which the call has come.
func (p *PendingFastCall) Peer() client.Peer { return p.Responder.Peer() }

// Revision returns the modern one.
func (p *PendingFastCall) Revision() string { return revision.Modern }

// Progressed passes progress on to the parked call.
func (p *PendingFastCall) Progressed(_ *FastCall, params []byte) *jsonrpc.Writer {
	p.emit(revision.NotificationProgress, params)
	return nil
}

// ContinueParked parks the call of r, and waits as ServeModern does. It reports
// false if the client is gone, and nothing is to be answered.
func (rt *Router) ContinueParked(ctx context.Context, p *PendingFastCall, r *Request) (Answer, bool) {
	r.rt = rt
	v := p.park(r)
	if v == nil {
		_ = rt.Authorizer.End(p.take(), nil, upstream.ErrCancelled)
		return Answer{}, false
	}
	result, err := v.await(ctx, p.parked)
	switch {
	case errors.Is(err, upstream.ErrCancelled):
		return Answer{}, false
	case err != nil:
		return rt.FailedModern(r.Method, err), true
	}
	return Answer{Result: result}, true
}

// park starts a conversation whose first round is the call; nil if the client is
// gone.
func (p *PendingFastCall) park(r *Request) *conversation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage.over {
		return nil
	}
	target, _ := rawjson.String(r.Line, r.Msg.Name) // FastCallModern has read it
	r.Begun, p.ticket = p.ticket, journal.Ticket{}
	r.authorizeOnce(r.rt)
	v := &conversation{r, inventory.Tools, &state{Method: r.Method, Target: target}}
	p.parked = v.start(p.firstRound)
	if p.ready != nil {
		close(p.ready)
	}
	return v
}

// firstRound waits for the call, and returns what forward would have returned of
// its outcome.
func (p *PendingFastCall) firstRound(ctx context.Context, r *Request) ([]byte, error) {
	o := p.wait(ctx)
	if o.why != nil {
		return nil, o.why
	}
	b := p.route.Backend
	if _, ok := errors.AsType[*runtime.Error](o.err); o.err != nil && !ok {
		return nil, b.Fail(b.ExplainClosed(o.err))
	}
	r.to = p.route // which may be in no list any more
	edits := []rawjson.Edit{within(r.Msg.Params, r.Msg.Name, p.route.Quoted)}
	return r.exchange(ctx, b, edits, func(ctx context.Context, build upstream.BuildRequest) ([]byte, *upstream.Conn, error) {
		result, err := p.conn.Resume(ctx, build, o.result, o.err)
		return result, p.conn, err
	})
}
