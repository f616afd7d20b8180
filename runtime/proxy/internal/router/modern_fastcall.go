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

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// PendingFastCall is a tools/call of the stateless era on the quick path to a stdio server
// of the handshake era. It has no goroutine and stands for its client while it
// lasts. Where it turns out to need more than a plain result, it goes on as a
// call that can wait for its client (see parking.Lot) and that is where it
// was: the server has asked something, or has answered with an error or with
// what is to be asked.
//
// A direct is not pooled: whoever asks may come late.
type PendingFastCall struct {
	rt           *Router
	conn         *upstream.Conn
	route        *catalog.Route
	Capabilities json.RawMessage // the client's
	Front        PendingFront
	id           uint64    // of the call in conn.pipe
	call         *FastCall // as long as it is pending there

	mu         sync.Mutex // guards what follows; never held when the pipe is called, which may hold its lock
	isOver     bool       // the client is answered or gone
	isParking  bool       // front.goOn was called
	hasOutcome bool       // there is an outcome
	outcome    outcome
	parked     *parking.Call
	ready      chan struct{} // closed once parked is set, or over; nil: nobody waits
	done       chan struct{} // closed once settled; nil: nobody waits
}

// outcome is how a direct call has ended that has no plain result.
type outcome struct {
	result []byte
	// err is the server's, or that of the way to it; why is ours, and ends the
	// request as it is.
	err, why error
}

// PendingFront is where a direct call comes from. Its methods run on the reader of
// the server, or on a goroutine of whoever asks, and must not wait.
type PendingFront interface {
	// Answer takes the framed answer, and the buffer with it. It gives the output
	// that it has dirtied, as jsonrpc.Receiver's Finish does.
	Answer(framed *bytes.Buffer) *jsonrpc.Writer
	// Park has Proxy.goOn called on a goroutine of the front's. The front may
	// still leave instead.
	Park()
	// Cancelled says that the client has cancelled the call.
	Cancelled()
}

// FastCallModern is quick for requests of the stateless era. d.front is set; header
// is that of an HTTP request, nil for others. What admit looks at must have been
// looked at.
func (rt *Router) FastCallModern(line []byte, m *rawjson.Message, d *PendingFastCall, header http.Header, now time.Time) (*jsonrpc.Conn, bool, error) {
	name := m.Name.Of(line)
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 ||
		m.MetaToken.Present() || m.MetaLevel.Present() || m.InputResponses.Present() || m.RequestState.Present() {
		return nil, false, nil
	}
	r := rt.Catalog.Current.Load().Routes[inventory.Tools][string(name[1:len(name)-1])]
	if r == nil || r.Support != "" || header != nil && len(r.Mirrors) > 0 {
		return nil, false, nil
	}
	conn := r.Backend.ModernShared.Load()
	if conn == nil {
		return nil, false, nil
	}
	if !conn.Shared.Load() {
		conn.NoteClient(nil)
	}
	d.rt, d.conn, d.route = rt, conn, r
	c, _ := calls.Get().(*FastCall)
	c.rt, c.backend, c.replyTo, c.from, c.version = rt, r.Backend, d, conn.Version, revision.Modern
	c.ID = append(c.ID[:0], m.ID.Of(line)...)
	q := &c.query
	*q = jsonrpc.Call{
		ID: conn.Pipe.NextID(), Method: revision.MethodToolsCall, Params: m.Params.Of(line), Now: now,
		Limit: max(r.Backend.Config().RequestTimeout, 0), Ceiling: limits.RequestCeiling, Receiver: c,
	}
	c.edits[0] = within(m.Params, m.Name, r.Quoted)
	meta := []byte(`{}`)
	if m.MetaOthers > 0 {
		meta = withoutProtocol(m.Meta.Of(line))
	}
	if len(d.Capabilities) > len(`{}`) {
		// The client can come back with answers and a token of its own, and then
		// the call is on its way: see wantProgress.
		meta = withOwnToken(meta, strconv.AppendUint(c.scratch[:0], q.ID, 10))
		c.token = append(c.token[:0], '0') // reports knows whose it becomes
	}
	c.edits[1] = within(m.Params, m.Meta, meta)
	q.Edits = ordered(c.edits[:])
	d.id, d.call = q.ID, c
	c.start = now
	r.Backend.Activity.Began(now)
	if err := conn.Pipe.Start(q); err != nil {
		r.Backend.Activity.Withdrawn()
		c.start = time.Time{}
		c.free()
		if errors.Is(err, jsonrpc.ErrFull) {
			return nil, true, &upstream.Error{Server: r.Backend.Name, Err: err}
		}
		return nil, false, nil // as in quick
	}
	return conn.Pipe, true, nil
}

// Declared gives capabilities of a client in bytes that nobody else writes to:
// clients declare the same ones over and over, so the last ones are kept.
func (rt *Router) Declared(capabilities []byte) json.RawMessage {
	if last := rt.lastDeclared.Load(); last != nil && bytes.Equal(*last, capabilities) {
		return *last
	}
	own := json.RawMessage(bytes.Clone(capabilities))
	rt.lastDeclared.Store(&own)
	return own
}

// withoutProtocol gives metadata without what the protocol owns, which means
// nothing in the handshake era, and would pass for the other's.
func withoutProtocol(meta []byte) []byte {
	out, err := rawjson.Without(meta, revision.OfProtocol)
	if err != nil {
		return []byte(`{}`) // impossible: it was read as an object
	}
	return out
}

// withOwnToken gives metadata, which has none, with a progress token.
func withOwnToken(meta, token []byte) []byte {
	at := rawjson.Insertion(meta, rawjson.Span{Start: rawjson.Bracket(meta), End: len(meta)}, "progressToken", token)
	return rawjson.Splice(nil, meta, at)
}

// finished takes the answer of the server. It runs where jsonrpc.Receiver's Finish
// does.
func (d *PendingFastCall) Finished(c *FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	framed := d.framed(c, a)
	d.mu.Lock()
	if framed != nil && !d.isOver && !d.isParking {
		d.isOver = true
		d.mu.Unlock()
		return d.Front.Answer(framed)
	}
	d.mu.Unlock()
	if framed != nil {
		limits.Release(framed)
	}
	o := outcome{result: bytes.Clone(a.Result), err: a.Err}
	switch {
	case errors.Is(a.Err, jsonrpc.ErrTimeout):
		o.err = &runtime.TimeoutError{Op: revision.MethodToolsCall, After: c.query.Limit}
	case a.Error != nil:
		o.err = runtime.ParseError(bytes.Clone(a.Error))
	}
	d.setOutcome(o)
	return nil
}

// framed gives the whole answer where the server's is a plain result, else nil.
func (d *PendingFastCall) framed(c *FastCall, a jsonrpc.Answer) *bytes.Buffer {
	if a.Err != nil || a.Error != nil {
		return nil
	}
	result := c.rt.Catalog.ExposedContent(c.backend, revision.MethodToolsCall, a.Result)
	framed, _ := limits.Bodies.Get().(*bytes.Buffer)
	framed.Grow(len(result) + d.conn.PlainResults.Len() + len(c.ID) + 64)
	b := append(append(append(framed.AvailableBuffer(), `{"jsonrpc":"2.0","id":`...), c.ID...), `,"result":`...)
	at := len(b)
	b, plain := d.conn.PlainResults.Append(b, result)
	if !plain {
		limits.Release(framed)
		return nil
	}
	rawjson.OneLine(b[at:])
	framed.Write(append(b, '}', '\n'))
	return framed
}

// setOutcome notes how the call has ended, for who takes it from here.
func (d *PendingFastCall) setOutcome(o outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hasOutcome {
		return
	}
	d.hasOutcome, d.outcome = true, o
	if d.done != nil {
		close(d.done)
	}
	d.parkOnce()
}

// parkOnce has the call go on as a parked one, once. The caller holds the lock.
func (d *PendingFastCall) parkOnce() {
	if !d.isParking && !d.isOver {
		d.isParking = true
		d.Front.Park()
	}
}

// Leave is the end of the client's request before there is an answer, unless the
// call is parked: then that has its own.
func (d *PendingFastCall) Leave(why error) {
	d.mu.Lock()
	parked := d.parked != nil
	if d.ready != nil && !parked && !d.isOver {
		close(d.ready)
	}
	d.isOver = true
	d.mu.Unlock()
	if !parked {
		d.abandon(why)
	}
}

// Ended implements ReplyTo. Where that is the end of the request the front is told,
// else whoever goes on with it ends it.
func (d *PendingFastCall) Ended(cancelled bool) {
	d.mu.Lock()
	if d.ready != nil && d.parked == nil && !d.isOver {
		close(d.ready)
	}
	d.isOver = true
	more := d.isParking
	d.mu.Unlock()
	d.setOutcome(outcome{why: upstream.ErrCancelled})
	if cancelled && !more {
		d.Front.Cancelled()
	}
}

// abandon ends the call at the server; false where it has ended.
func (d *PendingFastCall) abandon(why error) bool {
	d.conn.NoteAbandoned(nil)
	if !d.conn.Pipe.Abandon(d.id, why.Error()) {
		return false
	}
	d.call.free()
	return true
}

// IsParked tells whether the call goes on as one that can wait for its client.
func (d *PendingFastCall) IsParked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parked != nil
}

// refuse ends the call with an error of ours.
func (d *PendingFastCall) refuse(err error) {
	if d.abandon(err) {
		d.setOutcome(outcome{why: err})
	}
}

// ask puts a question of the server to the client, who has to come back for it.
func (d *PendingFastCall) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	d.mu.Lock()
	if d.isOver && d.parked == nil {
		d.mu.Unlock()
		return nil, parking.ErrLost
	}
	if d.ready == nil {
		d.ready = make(chan struct{})
		if d.parked != nil {
			close(d.ready)
		}
	}
	ready := d.ready
	d.parkOnce()
	d.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	k := d.parked
	d.mu.Unlock()
	if k == nil {
		return nil, parking.ErrLost
	}
	return k.Ask(ctx, method, params)
}

// emit is the way of what the server sends inside the call.
func (d *PendingFastCall) emit(method string, params []byte) {
	d.mu.Lock()
	k := d.parked
	d.mu.Unlock()
	if k != nil {
		k.Emit(method, params)
	}
}

// wait gives how the call has ended. It is the client's way of waiting for a
// parked call: when ctx ends, so does the call.
func (d *PendingFastCall) wait(ctx context.Context) outcome {
	d.mu.Lock()
	if d.done == nil {
		d.done = make(chan struct{})
		if d.hasOutcome {
			close(d.done)
		}
	}
	done := d.done
	d.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		if d.abandon(context.Cause(ctx)) {
			d.setOutcome(outcome{why: ctx.Err()})
		}
		<-done // the answer has won the race, or settle was just called
	}
	return d.outcome
}

// Origin implements ReplyTo.
func (d *PendingFastCall) Origin() upstream.Origin {
	return upstream.Origin{Version: revision.Modern, Capabilities: d.Capabilities, Level: revision.LevelNone, Emit: d.emit, Ask: d.ask, Refuse: d.refuse}
}

// Client implements ReplyTo: requests of the stateless era stand alone.
func (d *PendingFastCall) Client() *upstream.Client { return nil }

// Revision implements ReplyTo.
func (d *PendingFastCall) Revision() string { return revision.Modern }

// Progressed implements ReplyTo.
func (d *PendingFastCall) Progressed(_ *FastCall, params []byte) *jsonrpc.Writer {
	d.emit(revision.NotificationProgress, params)
	return nil
}

// ContinueParked has a direct call go on as one that can wait for its client to come back,
// whose request r is, and waits as serveModern does. False: the client is gone,
// and nothing is to be answered.
func (rt *Router) ContinueParked(ctx context.Context, d *PendingFastCall, r Request) (Answer, bool) {
	s := rt.park(d, r)
	if s == nil {
		return Answer{}, false
	}
	result, err := rt.awaitParked(ctx, d.parked, r, s)
	switch {
	case errors.Is(err, upstream.ErrCancelled):
		return Answer{}, false
	case err != nil:
		return rt.FailedModern(r.Method, err), true
	}
	return Answer{Result: result}, true
}

func (rt *Router) park(d *PendingFastCall, r Request) *state {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isOver {
		return nil
	}
	target, _ := rawjson.String(r.Line, r.Msg.Name) // else it would not be direct
	s := &state{Method: r.Method, Target: target}
	d.parked = rt.Parking.Start(rt.Set.Lifetime, r.reports(), func(ctx context.Context, k *parking.Call) (json.RawMessage, error) {
		return rt.converse(ctx, k, inventory.Tools, r, s, d.first)
	})
	if d.ready != nil {
		close(d.ready)
	}
	return s
}

// first is the first round of the conversation that a direct call has become.
func (d *PendingFastCall) first(ctx context.Context, r Request) ([]byte, error) {
	o := d.wait(ctx)
	if o.why != nil {
		return nil, o.why
	}
	b := d.route.Backend
	if _, ok := errors.AsType[*runtime.Error](o.err); o.err != nil && !ok {
		return nil, &upstream.Error{Server: b.Name, Err: b.ExplainClosed(o.err)}
	}
	r.to = d.route // which may be in no list any more
	s, err := d.rt.resume(ctx, d.conn, o, r, within(r.Msg.Params, r.Msg.Name, d.route.Quoted))
	return s.result, err
}
