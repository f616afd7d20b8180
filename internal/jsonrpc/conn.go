package jsonrpc

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

var (
	// ErrClosed ends calls on a connection that is gone.
	ErrClosed = errors.New("connection closed")
	// ErrBusy is a peer that owes too many answers: the call was not started.
	ErrBusy = errors.New("too many requests wait for its answers")
	// ErrTimeout ends a call without an answer in time.
	ErrTimeout = errors.New("no answer in time")
)

// Receiver is who waits for the answer to a call. Exactly one Finish comes for
// each started call; no Event comes after it.
type Receiver interface {
	// Finish takes the answer. It runs on whatever goroutine ended the call and
	// must not wait. It returns the output it has written to, nil for none; the
	// caller flushes it.
	Finish(a Answer) *Writer
	// Event takes a notification that belongs to the call, such as its
	// progress. It runs under the connection's lock: memory work only, and no
	// call back into the connection.
	Event(method string, params []byte) *Writer
}

// Answer is how a call ended: a result, a server's error object, or a failure
// of the connection (ErrClosed, ErrTimeout or what Peer.Closed gave). Result
// and Error are raw and valid only during Finish.
type Answer struct {
	Result, Error []byte
	Err           error
	// At is when the answer was read, about: one reading of the clock for all
	// that came with it. Zero with Err.
	At time.Time
}

// Peer receives what belongs to no call. Its methods run on the reader; params
// and id are valid only during them.
type Peer interface {
	Notification(method string, params []byte)
	// Request is answered, at once or later, by Conn.Respond or RespondError.
	Request(id []byte, method string, params []byte)
	// Malformed is a line that is no message. An error ends the connection before
	// anything that came behind the line is read.
	Malformed(line []byte, err error) error
	// Closed is called once, after the last message; the error it returns ends
	// the pending calls.
	Closed(err error) error
}

// Call is one call to start.
type Call struct {
	// ID is from NextID.
	ID     uint64
	Method string
	// Params is raw, nil for none; Edits are applied while it is copied. Both
	// may be reused once Start has returned.
	Params []byte
	Edits  []rawjson.Edit
	// Text replaces the id on the wire, for the few requests whose id must be
	// recognisable; nil for none.
	Text []byte
	// Token is the raw progress token in Params, nil where it is the number ID
	// or there is none.
	Token []byte
	// Now is the time, for callers that know it already, as of a moment ago;
	// zero: Start reads the clock.
	Now time.Time
	// Limit is how long the call may go without a sign of life, 0 forever;
	// progress re-arms it, up to Ceiling after the start (0: no ceiling).
	Limit, Ceiling time.Duration
	Receiver       Receiver
	// Sent is told by [Conn.Call] that the call is on its way; nil: nobody is.
	Sent func()
}

// Conn is a connection over which lines go both ways. All methods may be
// called concurrently.
type Conn struct {
	out     *Writer
	peer    Peer
	strings bool
	errors  func(object []byte) []byte // nil for none; set before Read
	start   time.Time
	next    atomic.Uint64
	atRead  atomic.Uint64 // next when the input was last read from
	waiters sync.Pool     // of *waiter; not of all connections, since a test's channels stay in its bubble

	mu       sync.Mutex // guards what follows; held for memory work only
	pending  map[uint64]pending
	closed   error
	sweeper  *time.Timer
	armed    bool
	received bool // a message has come

	refused error // of Peer.Malformed; the reader's
}

type pending struct {
	receiver      Receiver
	text, token   []byte
	deadline, end int64 // nanoseconds since Conn.start, 0 for none
	limit         int64
	suspended     int // how often
}

// MaxPending bounds the calls that wait for answers over one connection, and with
// them what a peer that hangs can make its callers hold. A further one is
// refused (ErrBusy).
const MaxPending = 2048

// sweepEvery is how late a deadline may fire: fine for requests measured in
// seconds, and no call needs a timer of its own.
const sweepEvery = 250 * time.Millisecond

// NewConn makes a connection that writes to out. Read must be called to
// receive. stringIDs sends ids as strings, for servers that want them.
func NewConn(out *Writer, peer Peer, stringIDs bool) *Conn {
	return &Conn{out: out, peer: peer, strings: stringIDs, start: time.Now(), pending: map[uint64]pending{}}
}

// RewriteErrors has f see the error object of each answer: what it returns is
// handed on in its place. It is called before Read.
func (c *Conn) RewriteErrors(f func(object []byte) []byte) { c.errors = f }

// NextID reserves the id of a call, which a progress token may repeat.
func (c *Conn) NextID() uint64 { return c.next.Add(1) }

// Start queues one call and returns without waiting; Flush sends it. With an
// error no byte was queued and the receiver is not called.
func (c *Conn) Start(q *Call) error {
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	now := int64(q.Now.Sub(c.start))
	p := pending{receiver: q.Receiver, text: q.Text, token: q.Token, limit: int64(q.Limit)}
	if q.Limit > 0 {
		p.deadline = now + p.limit
		if q.Ceiling > 0 {
			p.end = now + int64(q.Ceiling)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed != nil:
		return c.closed
	case len(c.pending) >= MaxPending:
		return ErrBusy
	}
	// The frame is built under the lock that publishes the call: its end could
	// come at once and the receiver be reused while it is still read here.
	buf, err := c.out.Begin()
	if err != nil {
		return err
	}
	if len(buf) > fullAt {
		c.out.End(buf)
		return ErrFull
	}
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	buf = c.appendID(buf, q.ID, q.Text)
	buf = append(append(append(buf, `,"method":"`...), q.Method...), '"')
	c.out.End(appendParams(buf, q.Params, q.Edits))
	c.pending[q.ID] = p
	if q.Limit > 0 && !c.armed {
		c.arm()
	}
	return nil
}

func (c *Conn) appendID(dst []byte, id uint64, text []byte) []byte {
	switch {
	case text != nil:
		return append(dst, text...)
	case c.strings:
		return append(strconv.AppendUint(append(dst, '"'), id, 10), '"')
	}
	return strconv.AppendUint(dst, id, 10)
}

// Flush sends what Start and Notify have queued.
func (c *Conn) Flush() { c.out.Flush() }

// Notify sends a notification.
func (c *Conn) Notify(method string, params []byte) error {
	return c.append(func(b []byte) []byte { return AppendNotification(b, method, params) })
}

// Respond answers a request of the peer.
func (c *Conn) Respond(id, result []byte) error {
	return c.append(func(b []byte) []byte { return AppendResult(b, id, result) })
}

// RespondError answers a request of the peer with a raw error object.
func (c *Conn) RespondError(id, object []byte) error {
	return c.append(func(b []byte) []byte { return AppendError(b, id, object) })
}

// append refuses the frame (ErrFull) where the peer has fallen too far behind:
// one that asks without end and never reads must not fill memory with answers.
func (c *Conn) append(frame func([]byte) []byte) error {
	buf, err := c.out.Begin()
	if err != nil {
		return err
	}
	if len(buf) > fullAt {
		c.out.End(buf)
		return ErrFull
	}
	c.out.End(frame(buf))
	c.out.Flush()
	return nil
}

// take removes a call. Whoever removes it owns its end.
func (c *Conn) take(id uint64) (pending, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.pending[id]
	delete(c.pending, id)
	return p, ok
}

// Abandon ends a call without an answer and tells the peer that it is
// cancelled. It reports false where the call has ended already; with true the
// receiver will not be called.
func (c *Conn) Abandon(id uint64, reason string) bool {
	p, ok := c.take(id)
	if ok {
		_ = c.cancelled(id, p.text, reason) // the peer may be gone: nothing to tell
	}
	return ok
}

// Forget ends a call without an answer and without telling the peer.
func (c *Conn) Forget(id uint64) bool {
	_, ok := c.take(id)
	return ok
}

func (c *Conn) cancelled(id uint64, text []byte, reason string) error {
	params := c.appendID([]byte(`{"requestId":`), id, text)
	if reason != "" {
		params = rawjson.Quote(append(params, `,"reason":`...), reason)
	}
	return c.Notify("notifications/cancelled", append(params, '}'))
}

// Find returns the id of a pending call whose receiver matches. match runs
// under the connection's lock.
func (c *Conn) Find(match func(Receiver) bool) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		if match(p.receiver) {
			return id, true
		}
	}
	return 0, false
}

// Each visits the pending calls, under the connection's lock: memory work only,
// and no call back into the connection.
func (c *Conn) Each(visit func(id uint64, r Receiver)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		visit(id, p.receiver)
	}
}

// Busy reports whether any call is pending.
func (c *Conn) Busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) > 0
}

// Shut has no further call start (ErrClosed), unless one is pending: then it
// reports false and changes nothing. What else is sent and received goes on.
func (c *Conn) Shut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) > 0 {
		return false
	}
	if c.closed == nil {
		c.closed = ErrClosed
	}
	return true
}

// Begun is how many ids have been reserved so far.
func (c *Conn) Begun() uint64 { return c.next.Load() }

// BegunAtRead is what Begun was when the input was last read from. The peer had
// written what came with that reading before it could know of a call with a higher id.
func (c *Conn) BegunAtRead() uint64 { return c.atRead.Load() }

type begunKey struct{}

// WithBegunAtRead returns a context for the work on a request of the peer, which goes
// on while more is read. It has BegunAtRead; Peer.Request calls it.
func (c *Conn) WithBegunAtRead(ctx context.Context) context.Context {
	return context.WithValue(ctx, begunKey{}, c.BegunAtRead())
}

// AnyTime is how many calls have begun, where that is to leave out none.
const AnyTime = math.MaxUint64

// BegunAtRead returns what WithBegunAtRead has put into the context, else AnyTime.
func BegunAtRead(ctx context.Context) uint64 {
	if begun, ok := ctx.Value(begunKey{}).(uint64); ok {
		return begun
	}
	return AnyTime
}

// Received reports whether any message has ever come.
func (c *Conn) Received() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received
}

// arm starts the sweep timer; the caller holds the lock.
func (c *Conn) arm() {
	c.armed = true
	if c.sweeper == nil {
		c.sweeper = time.AfterFunc(sweepEvery, c.sweep)
		return
	}
	c.sweeper.Reset(sweepEvery)
}

// sweep ends the calls whose deadline has passed.
func (c *Conn) sweep() {
	type ended struct {
		id uint64
		pending
	}
	var over []ended
	now := int64(time.Since(c.start))
	c.mu.Lock()
	c.armed = false
	for id, p := range c.pending {
		if p.deadline == 0 {
			continue
		}
		if p.deadline > now {
			c.armed = true
			continue
		}
		over = append(over, ended{id, p})
		delete(c.pending, id)
	}
	if c.armed && c.closed == nil {
		c.arm()
	}
	c.mu.Unlock()
	for _, e := range over {
		_ = c.cancelled(e.id, e.text, "timed out")
		if w := e.receiver.Finish(Answer{Err: ErrTimeout}); w != nil {
			w.Flush()
		}
	}
}

// Read receives until the input ends or fails, and then closes the connection.
// It is called once, on a goroutine of the owner's. Where answers go to an
// output whose reader has fallen behind, nothing more is read until it has
// caught up: the peer then waits in its own writes, and nothing piles up here.
func (c *Conn) Read(r *LineReader) {
	in := (*inbound)(c)
	var dirty *Writer
	flush := func(next *Writer) {
		if dirty != nil && dirty != next {
			dirty.Flush()
			_ = dirty.Wait() // an output that has failed takes nothing: no reason to wait
		}
		dirty = next
	}
	var reads uint64
	for {
		line, err := r.Next()
		if n := r.Reads(); n != reads {
			reads = n
			c.atRead.Store(c.next.Load())
		}
		switch {
		case errors.Is(err, ErrTooLong):
			if w := in.tooLong(r.Dropped()); w != nil {
				flush(w)
			}
		case err != nil:
			flush(nil)
			in.close(err)
			return
		default:
			if w := in.message(line, r.At(), r.Cut()); w != nil {
				flush(w)
			}
		}
		if in.refused != nil {
			flush(nil)
			in.close(in.refused)
			return
		}
		if !r.Buffered() {
			flush(nil)
		}
	}
}

// rearm stores a call with a limit again, its deadline counted from now; a
// suspended one has the ceiling alone. The caller holds the lock.
func (c *Conn) rearm(id uint64, p pending) {
	p.deadline = p.end
	if now := int64(time.Since(c.start)); p.suspended == 0 && (p.end == 0 || now+p.limit < p.end) {
		p.deadline = now + p.limit
	}
	c.pending[id] = p
	if p.deadline > 0 && !c.armed && c.closed == nil {
		c.arm()
	}
}

// Suspend leaves the ceiling alone to end a pending call, until resume is
// called: a person has been asked something and may take their time. It may be
// called for a call that has ended.
func (c *Conn) Suspend(id uint64) (resume func()) {
	shift := func(delta int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if p, ok := c.pending[id]; ok && p.limit > 0 {
			p.suspended += delta
			c.rearm(id, p)
		}
	}
	shift(1)
	return func() { shift(-1) }
}
