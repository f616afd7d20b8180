package router

import (
	"bytes"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
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
	backend *upstream.Backend
	ID      []byte // the client's own id, raw
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
	Origin() upstream.Origin
	// Client is the client's session, nil for none, Revision what it speaks.
	Client() *upstream.Client
	Revision() string
	// Ended says that the call has been ended without an answer: because the client
	// has cancelled it, or because its session has ended.
	Ended(cancelled bool)
}

var calls = sync.Pool{New: func() any { return new(FastCall) }} //nolint:gochecknoglobals // a pool of scratch space

// FastCall starts a call where nothing has to be waited for: the name is known
// and its backend connected over stdio. It reports false where the slow way
// has to be taken. With an error the call was not started. now is when the
// message was read.
func (rt *Router) FastCall(line []byte, m *rawjson.Message, to ReplyTo, now time.Time) (*jsonrpc.Conn, bool, error) {
	name := m.Name.Of(line)
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 || m.MetaVersion.Present() || m.Meta.Present() && ofProtocol(m.Meta.Of(line)) {
		return nil, false, nil
	}
	r := rt.Catalog.Current.Load().Routes[inventory.Tools][string(name[1:len(name)-1])]
	if r == nil || r.Support != "" { // a task is waited for
		return nil, false, nil
	}
	conn, who := r.Backend.LegacyShared.Load(), to.Client()
	if conn == nil {
		if who == nil {
			return nil, false, nil
		}
		if conn = who.State.ConnTo(r.Backend); conn == nil {
			return nil, false, nil
		}
	}
	if conn.Pipe == nil {
		return nil, false, nil
	}
	if who == nil || conn.FirstClient.Load() != who {
		conn.NoteClient(who)
	}
	c, _ := calls.Get().(*FastCall)
	c.rt, c.backend, c.replyTo = rt, r.Backend, to
	c.from, c.version = conn.Version, to.Revision()
	c.ID = append(c.ID[:0], m.ID.Of(line)...)
	c.token = append(c.token[:0], m.MetaToken.Of(line)...)
	q := &c.query
	*q = jsonrpc.Call{ID: conn.Pipe.NextID(), Method: revision.MethodToolsCall, Params: m.Params.Of(line), Now: now, Ceiling: limits.RequestCeiling, Receiver: c}
	if limit := r.Backend.Config().RequestTimeout; limit > 0 {
		q.Limit = limit
	}
	c.edits[0] = within(m.Params, m.Name, r.Quoted)
	n := 1
	if len(c.token) > 0 {
		// Behind, a call's token is its id: unique, and found without a table.
		c.edits[1] = within(m.Params, m.MetaToken, strconv.AppendUint(c.scratch[:0], q.ID, 10))
		n = 2
	}
	q.Edits = ordered(c.edits[:n])
	c.start = now
	r.Backend.Activity.Began(now)
	if err := conn.Pipe.Start(q); err != nil {
		r.Backend.Activity.Withdrawn()
		c.start = time.Time{}
		c.free()
		if errors.Is(err, jsonrpc.ErrFull) || errors.Is(err, jsonrpc.ErrBusy) {
			return nil, true, &upstream.Error{Server: r.Backend.Name, Err: err}
		}
		return nil, false, nil // the connection is gone: the slow way makes a new one
	}
	return conn.Pipe, true, nil
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
		c.backend.Activity.Ended(c.start, c.answeredAt, c.failed)
	}
	*c = FastCall{ID: c.ID[:0], token: c.token[:0]}
	calls.Put(c)
}

// Finish implements [jsonrpc.Receiver].
func (c *FastCall) Finish(a jsonrpc.Answer) *jsonrpc.Writer {
	defer c.free()
	c.answeredAt, c.failed = a.At, a.Err != nil || a.Error != nil
	return c.replyTo.Finished(c, a)
}

// Origin implements [upstream.Inflight].
func (c *FastCall) Origin() upstream.Origin { return c.replyTo.Origin() }

// OnEnd implements [upstream.Inflight].
func (c *FastCall) OnEnd(f func()) { c.ends = append(c.ends, f) }

// Answer returns the answer in the client's revision, with the URIs that clients
// know. Where nothing is to be changed it allocates nothing.
func (c *FastCall) Answer(a jsonrpc.Answer) Answer {
	if a.Err != nil {
		return Failed(revision.MethodToolsCall, &upstream.Error{Server: c.backend.Name, Err: c.backend.ExplainClosed(a.Err)})
	}
	to := revision.Conversion{From: c.from, To: c.version, Method: revision.MethodToolsCall}
	if a.Error != nil {
		if bytes.Contains(a.Error, []byte("-32042")) {
			c.backend.KeepForAnswers() // revision.CodeURLElicitation: somebody is to open a page
		}
		if c.version == "" || c.version == revision.Latest {
			return Answer{Object: a.Error}
		}
		e := runtime.ParseError(a.Error)
		if to.Error(e) == e {
			return Answer{Object: a.Error}
		}
		return Answer{Result: errorResult(c.backend.Name, revision.Sentence(e), e.Raw)}
	}
	result := c.rt.Catalog.ExposedContent(c.backend, revision.MethodToolsCall, a.Result)
	if !to.Needed() {
		return Answer{Result: result}
	}
	out, err := to.Result(result)
	if err != nil {
		return Failed(revision.MethodToolsCall, &upstream.Error{Server: c.backend.Name, Err: err})
	}
	return Answer{Result: out}
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

// CancelFastCall ends the call with a client's id whose receiver is the client's,
// without an answer.
func (rt *Router) CancelFastCall(of func(ReplyTo) bool, id []byte) {
	rt.abandon(upstream.ErrCancelled, func(c *FastCall) bool { return bytes.Equal(c.ID, id) && of(c.replyTo) })
}

// AbandonFastCalls ends all calls whose receiver is among those of a client that
// is gone, without an answer.
func (rt *Router) AbandonFastCalls(of func(ReplyTo) bool) {
	for rt.abandon(upstream.ErrSessionEnded, func(c *FastCall) bool { return of(c.replyTo) }) {
	}
}

// abandon ends the first call that matches, without an answer. It reports false
// where there is none. A call that ends by itself meanwhile is looked for no more.
func (rt *Router) abandon(why error, matches func(*FastCall) bool) bool {
	for _, conn := range rt.Set.WithPipe() {
		var found *FastCall
		var who *upstream.Client
		n, ok := conn.Pipe.Find(func(r jsonrpc.Receiver) bool {
			if c, is := r.(*FastCall); is && matches(c) {
				found, who = c, c.replyTo.Client()
			}
			return found != nil
		})
		if !ok {
			continue
		}
		conn.NoteAbandoned(who)
		if conn.Pipe.Abandon(n, why.Error()) {
			to := found.replyTo
			found.free()
			to.Ended(why == upstream.ErrCancelled) //nolint:errorlint // set by identity
		}
		return true
	}
	return false
}
