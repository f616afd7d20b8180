package proxy

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
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// pendingFastCall is a tools/call of the stateless era on the quick path to a stdio server
// of the handshake era. It has no goroutine and stands for its client while it
// lasts. Where it turns out to need more than a plain result, it goes on as a
// call that can wait for its client (see parking.Lot) and that is where it
// was: the server has asked something, or has answered with an error or with
// what is to be asked.
//
// A direct is not pooled: whoever asks may come late.
type pendingFastCall struct {
	rt           *Router
	conn         *Conn
	route        *route
	capabilities json.RawMessage // the client's
	front        pendingFront
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

// pendingFront is where a direct call comes from. Its methods run on the reader of
// the server, or on a goroutine of whoever asks, and must not wait.
type pendingFront interface {
	// answer takes the framed answer, and the buffer with it. It gives the output
	// that it has dirtied, as jsonrpc.Receiver's Finish does.
	answer(framed *bytes.Buffer) *jsonrpc.Writer
	// park has Proxy.goOn called on a goroutine of the front's. The front may
	// still leave instead.
	park()
	// cancelled says that the client has cancelled the call.
	cancelled()
}

// fastCallModern is quick for requests of the stateless era. d.front is set; header
// is that of an HTTP request, nil for others. What admit looks at must have been
// looked at.
func (rt *Router) fastCallModern(line []byte, m *rawjson.Message, d *pendingFastCall, header http.Header, now time.Time) (*jsonrpc.Conn, bool, error) {
	name := m.Name.Of(line)
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 ||
		m.MetaToken.Present() || m.MetaLevel.Present() || m.InputResponses.Present() || m.RequestState.Present() {
		return nil, false, nil
	}
	r := rt.catalog.current.Load().routes[tools][string(name[1:len(name)-1])]
	if r == nil || r.support != "" || header != nil && len(r.mirrors) > 0 {
		return nil, false, nil
	}
	conn := r.b.modernShared.Load()
	if conn == nil {
		return nil, false, nil
	}
	if !conn.shared.Load() {
		conn.noteClient(nil)
	}
	d.rt, d.conn, d.route = rt, conn, r
	c, _ := calls.Get().(*FastCall)
	c.rt, c.backend, c.replyTo, c.from, c.version = rt, r.b, d, conn.version, revision.Modern
	c.id = append(c.id[:0], m.ID.Of(line)...)
	q := &c.query
	*q = jsonrpc.Call{
		ID: conn.pipe.NextID(), Method: revision.MethodToolsCall, Params: m.Params.Of(line), Now: now,
		Limit: max(r.b.config().RequestTimeout, 0), Ceiling: requestCeiling, Receiver: c,
	}
	c.edits[0] = within(m.Params, m.Name, r.quoted)
	meta := []byte(`{}`)
	if m.MetaOthers > 0 {
		meta = withoutProtocol(m.Meta.Of(line))
	}
	if len(d.capabilities) > len(`{}`) {
		// The client can come back with answers and a token of its own, and then
		// the call is on its way: see wantProgress.
		meta = withOwnToken(meta, strconv.AppendUint(c.scratch[:0], q.ID, 10))
		c.token = append(c.token[:0], '0') // reports knows whose it becomes
	}
	c.edits[1] = within(m.Params, m.Meta, meta)
	q.Edits = ordered(c.edits[:])
	d.id, d.call = q.ID, c
	c.start = now
	r.b.activity.began(now)
	if err := conn.pipe.Start(q); err != nil {
		r.b.activity.withdrawn()
		c.start = time.Time{}
		c.free()
		if errors.Is(err, jsonrpc.ErrFull) {
			return nil, true, &backendError{server: r.b.name, err: err}
		}
		return nil, false, nil // as in quick
	}
	return conn.pipe, true, nil
}

// declared gives capabilities of a client in bytes that nobody else writes to:
// clients declare the same ones over and over, so the last ones are kept.
func (rt *Router) declared(capabilities []byte) json.RawMessage {
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
func (d *pendingFastCall) Finished(c *FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	framed := d.framed(c, a)
	d.mu.Lock()
	if framed != nil && !d.isOver && !d.isParking {
		d.isOver = true
		d.mu.Unlock()
		return d.front.answer(framed)
	}
	d.mu.Unlock()
	if framed != nil {
		release(framed)
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
func (d *pendingFastCall) framed(c *FastCall, a jsonrpc.Answer) *bytes.Buffer {
	if a.Err != nil || a.Error != nil {
		return nil
	}
	result := c.rt.catalog.exposedContent(c.backend, revision.MethodToolsCall, a.Result)
	framed, _ := bodies.Get().(*bytes.Buffer)
	framed.Grow(len(result) + d.conn.plainResults.Len() + len(c.id) + 64)
	b := append(append(append(framed.AvailableBuffer(), `{"jsonrpc":"2.0","id":`...), c.id...), `,"result":`...)
	at := len(b)
	b, plain := d.conn.plainResults.Append(b, result)
	if !plain {
		release(framed)
		return nil
	}
	rawjson.OneLine(b[at:])
	framed.Write(append(b, '}', '\n'))
	return framed
}

// setOutcome notes how the call has ended, for who takes it from here.
func (d *pendingFastCall) setOutcome(o outcome) {
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
func (d *pendingFastCall) parkOnce() {
	if !d.isParking && !d.isOver {
		d.isParking = true
		d.front.park()
	}
}

// leave is the end of the client's request before there is an answer, unless the
// call is parked: then that has its own.
func (d *pendingFastCall) leave(why error) {
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
func (d *pendingFastCall) Ended(cancelled bool) {
	d.mu.Lock()
	if d.ready != nil && d.parked == nil && !d.isOver {
		close(d.ready)
	}
	d.isOver = true
	more := d.isParking
	d.mu.Unlock()
	d.setOutcome(outcome{why: errCancelled})
	if cancelled && !more {
		d.front.cancelled()
	}
}

// abandon ends the call at the server; false where it has ended.
func (d *pendingFastCall) abandon(why error) bool {
	d.conn.noteAbandoned(nil)
	if !d.conn.pipe.Abandon(d.id, why.Error()) {
		return false
	}
	d.call.free()
	return true
}

// isParked tells whether the call goes on as one that can wait for its client.
func (d *pendingFastCall) isParked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parked != nil
}

// refuse ends the call with an error of ours.
func (d *pendingFastCall) refuse(err error) {
	if d.abandon(err) {
		d.setOutcome(outcome{why: err})
	}
}

// ask puts a question of the server to the client, who has to come back for it.
func (d *pendingFastCall) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
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
func (d *pendingFastCall) emit(method string, params []byte) {
	d.mu.Lock()
	k := d.parked
	d.mu.Unlock()
	if k != nil {
		k.Emit(method, params)
	}
}

// wait gives how the call has ended. It is the client's way of waiting for a
// parked call: when ctx ends, so does the call.
func (d *pendingFastCall) wait(ctx context.Context) outcome {
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
func (d *pendingFastCall) Origin() Origin {
	return Origin{version: revision.Modern, capabilities: d.capabilities, level: revision.LevelNone, emit: d.emit, ask: d.ask, refuse: d.refuse}
}

// Client implements ReplyTo: requests of the stateless era stand alone.
func (d *pendingFastCall) Client() *Client { return nil }

// Revision implements ReplyTo.
func (d *pendingFastCall) Revision() string { return revision.Modern }

// Progressed implements ReplyTo.
func (d *pendingFastCall) Progressed(_ *FastCall, params []byte) *jsonrpc.Writer {
	d.emit(revision.NotificationProgress, params)
	return nil
}

// continueParked has a direct call go on as one that can wait for its client to come back,
// whose request r is, and waits as serveModern does. False: the client is gone,
// and nothing is to be answered.
func (rt *Router) continueParked(ctx context.Context, d *pendingFastCall, r Request) (Answer, bool) {
	s := rt.park(d, r)
	if s == nil {
		return Answer{}, false
	}
	result, err := rt.awaitParked(ctx, d.parked, r, s)
	switch {
	case errors.Is(err, errCancelled):
		return Answer{}, false
	case err != nil:
		return rt.failedModern(r.method, err), true
	}
	return Answer{result: result}, true
}

func (rt *Router) park(d *pendingFastCall, r Request) *state {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isOver {
		return nil
	}
	target, _ := rawjson.String(r.line, r.msg.Name) // else it would not be direct
	s := &state{Method: r.method, Target: target}
	d.parked = rt.parking.Start(rt.set.lifetime, r.reports(), func(ctx context.Context, k *parking.Call) (json.RawMessage, error) {
		return rt.converse(ctx, k, tools, r, s, d.first)
	})
	if d.ready != nil {
		close(d.ready)
	}
	return s
}

// first is the first round of the conversation that a direct call has become.
func (d *pendingFastCall) first(ctx context.Context, r Request) ([]byte, error) {
	o := d.wait(ctx)
	if o.why != nil {
		return nil, o.why
	}
	b := d.route.b
	if _, ok := errors.AsType[*runtime.Error](o.err); o.err != nil && !ok {
		return nil, &backendError{server: b.name, err: b.explainClosed(o.err)}
	}
	r.to = d.route // which may be in no list any more
	s, err := d.rt.resume(ctx, d.conn, o, r, within(r.msg.Params, r.msg.Name, d.route.quoted))
	return s.result, err
}
