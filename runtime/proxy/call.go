package proxy

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// FastCall is a tools/call on its way to a connected stdio backend. It owns no
// goroutine, channel or timer of its own; it is pooled, and whoever removes it
// from the backend's pending calls ends it.
type FastCall struct {
	query   jsonrpc.Call
	edits   [2]rawjson.Edit
	scratch [24]byte

	rt      *Router
	backend *Backend
	id      []byte // the client's own id, raw
	token   []byte // the client's own progress token, raw; empty for none
	replyTo ReplyTo

	// from is the revision of the connection, version the client's.
	from, version string
	// start is when it began, zero where it did not, end when it was answered,
	// zero where it was not; failed is that the server did not answer, or
	// answered with an error.
	start, answeredAt time.Time
	failed            bool

	progress progressGate
	ends     []func() // to be called when it has ended; guarded by the connection's lock
}

// ReplyTo is where a call comes from and its answer goes back to: all that the
// router knows of a front.
type ReplyTo interface {
	// Finished appends the answer to the client's output and returns that output,
	// nil where nothing is to be flushed. It runs where jsonrpc.Receiver's Finish
	// does.
	Finished(c *FastCall, a jsonrpc.Answer) *jsonrpc.Writer
	// Progressed does the same with a progress message.
	Progressed(c *FastCall, params []byte) *jsonrpc.Writer
	// Origin is the client as its requests carry it, and the way back to it
	// while the call is pending.
	Origin() Origin
	// Client is the client's session, nil for none, Revision what it speaks.
	Client() *Client
	Revision() string
	// Ended says that the call has been ended without an answer: because the client
	// has cancelled it, or because its session has ended.
	Ended(cancelled bool)
}

var calls = sync.Pool{New: func() any { return new(FastCall) }} //nolint:gochecknoglobals // a pool of scratch space

// fastCall starts a call where nothing has to be waited for: the name is known
// and its backend connected over stdio. It reports false where the slow way
// has to be taken. With an error the call was not started. now is when the
// message was read.
func (rt *Router) fastCall(line []byte, m *rawjson.Message, to ReplyTo, now time.Time) (*jsonrpc.Conn, bool, error) {
	name := m.Name.Of(line)
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 || m.MetaVersion.Present() || m.Meta.Present() && ofProtocol(m.Meta.Of(line)) {
		return nil, false, nil
	}
	r := rt.catalog.current.Load().routes[tools][string(name[1:len(name)-1])]
	if r == nil || r.support != "" { // a task is waited for
		return nil, false, nil
	}
	conn, who := r.b.legacyShared.Load(), to.Client()
	if conn == nil {
		if who == nil {
			return nil, false, nil
		}
		if conn = who.state.connTo(r.b); conn == nil {
			return nil, false, nil
		}
	}
	if conn.pipe == nil {
		return nil, false, nil
	}
	if who == nil || conn.firstClient.Load() != who {
		conn.noteClient(who)
	}
	c, _ := calls.Get().(*FastCall)
	c.rt, c.backend, c.replyTo = rt, r.b, to
	c.from, c.version = conn.version, to.Revision()
	c.id = append(c.id[:0], m.ID.Of(line)...)
	c.token = append(c.token[:0], m.MetaToken.Of(line)...)
	q := &c.query
	*q = jsonrpc.Call{ID: conn.pipe.NextID(), Method: revision.MethodToolsCall, Params: m.Params.Of(line), Now: now, Ceiling: requestCeiling, Receiver: c}
	if limit := r.b.config().RequestTimeout; limit > 0 {
		q.Limit = limit
	}
	c.edits[0] = within(m.Params, m.Name, r.quoted)
	n := 1
	if len(c.token) > 0 {
		// Behind, a call's token is its id: unique, and found without a table.
		c.edits[1] = within(m.Params, m.MetaToken, strconv.AppendUint(c.scratch[:0], q.ID, 10))
		n = 2
	}
	q.Edits = ordered(c.edits[:n])
	c.start = now
	r.b.activity.began(now)
	if err := conn.pipe.Start(q); err != nil {
		r.b.activity.withdrawn()
		c.start = time.Time{}
		c.free()
		if errors.Is(err, jsonrpc.ErrFull) || errors.Is(err, jsonrpc.ErrBusy) {
			return nil, true, &backendError{server: r.b.name, err: err}
		}
		return nil, false, nil // the connection is gone: the slow way makes a new one
	}
	return conn.pipe, true, nil
}

// ofProtocol tells whether metadata may hold what the protocol owns: a server
// that speaks both eras must not see the other's. Escapes can hide it.
func ofProtocol(meta []byte) bool {
	return bytes.Contains(meta, []byte("io.modelcontextprotocol/")) || bytes.IndexByte(meta, '\\') >= 0
}

// free gives the call back, which has ended. Nothing may refer to it any more.
func (c *FastCall) free() {
	for _, f := range c.ends {
		f()
	}
	if !c.start.IsZero() {
		if c.answeredAt.IsZero() {
			c.answeredAt = time.Now()
		}
		c.backend.activity.ended(c.start, c.answeredAt, c.failed)
	}
	*c = FastCall{id: c.id[:0], token: c.token[:0]}
	calls.Put(c)
}

// Finish implements [jsonrpc.Receiver].
func (c *FastCall) Finish(a jsonrpc.Answer) *jsonrpc.Writer {
	defer c.free()
	c.answeredAt, c.failed = a.At, a.Err != nil || a.Error != nil
	return c.replyTo.Finished(c, a)
}

// origin implements inflight.
func (c *FastCall) origin() Origin { return c.replyTo.Origin() }

// onEnd implements inflight.
func (c *FastCall) onEnd(f func()) { c.ends = append(c.ends, f) }

// answer returns the answer in the client's revision, with the URIs that clients
// know. Where nothing is to be changed it allocates nothing.
func (c *FastCall) answer(a jsonrpc.Answer) Answer {
	if a.Err != nil {
		return failed(revision.MethodToolsCall, &backendError{server: c.backend.name, err: c.backend.explainClosed(a.Err)})
	}
	to := revision.Conversion{From: c.from, To: c.version, Method: revision.MethodToolsCall}
	if a.Error != nil {
		if bytes.Contains(a.Error, []byte("-32042")) {
			c.backend.keepForAnswers() // revision.CodeURLElicitation: somebody is to open a page
		}
		if c.version == "" || c.version == revision.Latest {
			return Answer{object: a.Error}
		}
		e := runtime.ParseError(a.Error)
		if to.Error(e) == e {
			return Answer{object: a.Error}
		}
		return Answer{result: errorResult(c.backend.name, revision.Sentence(e), e.Raw)}
	}
	result := c.rt.catalog.exposedContent(c.backend, revision.MethodToolsCall, a.Result)
	if !to.Needed() {
		return Answer{result: result}
	}
	out, err := to.Result(result)
	if err != nil {
		return failed(revision.MethodToolsCall, &backendError{server: c.backend.name, err: err})
	}
	return Answer{result: out}
}

// Event implements [jsonrpc.Receiver].
func (c *FastCall) Event(method string, params []byte) *jsonrpc.Writer {
	if method != revision.NotificationProgress || len(c.token) == 0 {
		return nil
	}
	if out := c.progress.restore(params, c.token); out != nil {
		return c.replyTo.Progressed(c, out)
	}
	return nil
}

// cancelFastCall ends the call with a client's id whose receiver is the client's,
// without an answer.
func (rt *Router) cancelFastCall(of func(ReplyTo) bool, id []byte) {
	rt.abandon(errCancelled, func(c *FastCall) bool { return bytes.Equal(c.id, id) && of(c.replyTo) })
}

// abandonFastCalls ends all calls whose receiver is among those of a client that
// is gone, without an answer.
func (rt *Router) abandonFastCalls(of func(ReplyTo) bool) {
	for rt.abandon(errSessionEnded, func(c *FastCall) bool { return of(c.replyTo) }) {
	}
}

// abandon ends the first call that matches, without an answer. It reports false
// where there is none. A call that ends by itself meanwhile is looked for no more.
func (rt *Router) abandon(why error, matches func(*FastCall) bool) bool {
	for _, conn := range rt.set.withPipe() {
		var found *FastCall
		var who *Client
		n, ok := conn.pipe.Find(func(r jsonrpc.Receiver) bool {
			if c, is := r.(*FastCall); is && matches(c) {
				found, who = c, c.replyTo.Client()
			}
			return found != nil
		})
		if !ok {
			continue
		}
		conn.noteAbandoned(who)
		if conn.pipe.Abandon(n, why.Error()) {
			to := found.replyTo
			found.free()
			to.Ended(why == errCancelled) //nolint:errorlint // set by identity
		}
		return true
	}
	return false
}
