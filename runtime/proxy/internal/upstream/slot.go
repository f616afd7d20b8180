package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/breaker"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/ability"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Slot is one of a backend's connections, by its key: idle, connecting or
// ready. It is connected when it is first needed, once, however many wait for
// it, and again when it was lost.
type Slot struct {
	Backend *Backend
	Key     Key
	// Owner is whose alone it is, nil where it is no session's own.
	Owner *Client
	// Exclusive tells that it takes one call at a time.
	Exclusive bool

	Ready atomic.Pointer[Conn] // nil unless connected

	// What follows is guarded by backend.mu.

	attempt      *dialing  // the connecting under way, nil for none
	failures     int       // in a row
	retryAt      time.Time // lists leave it alone until then
	lastErr      error     // why it could not be connected, nil where it could
	Breaker      breaker.Breaker
	cause        error           // the latest failure or end that the breaker was told of
	broken       bool            // the connection was lost, and there is none since
	ending       <-chan struct{} // closed once the connection before has ended; nil: it has
	reconnecting bool            // somebody sees to it that it is connected
	reconnectAt  time.Time       // and does so next then
	closed       bool
	suspectedAt  time.Time // last connected anew because the server seemed another
	inUse        bool      // an exclusive one is in use
	lastUsed     time.Time // an own one was last seen in use
	begun        uint64    // calls begun by then

	keeps keeps // what keeps it connected though nobody calls
}

// Conn is a connected server. What the server sends may come before what
// it is has been noted: opened is closed then.
type Conn struct {
	Slot   *Slot
	Opened chan struct{}
	Client *runtime.Client
	// Offer is what the server was told that it can ask.
	Offer string
	// Version is the revision that is spoken over it.
	Version string
	since   time.Time // when it was connected
	// Pipe takes calls without waiting; nil where the transport cannot.
	Pipe *jsonrpc.Conn
	// PlainResults is how plain results of a server of the handshake era reach modern
	// clients, nil for another. quick tells that calls of theirs can go over pipe
	// past the transport. implementation is who the server says it is, nil for
	// nobody.
	PlainResults   *revision.Plain
	takesFastCalls bool
	Implementation json.RawMessage
	// remote tells that the server is no process of ours: it may be replaced by
	// another one while the connection lasts.
	remote bool
	// FirstClient is the first client session that has used the connection, crowd tells
	// that another client has, too. kept tells that the former goes on using it
	// alone, because the server has asked it; guarded by backend.mu.
	FirstClient atomic.Pointer[Client]
	Shared      atomic.Bool
	reserved    bool
	// gone is why the connection has ended, nil while it lives; guarded by
	// backend.mu.
	gone error

	Mu sync.Mutex // guards what follows; held for memory work only
	// Calls are those of clients that have a goroutine; the others are in pipe.
	Calls   map[Waiter]struct{}
	begun   uint64         // of the former, ever
	noCalls bool           // no call begins any more
	Level   revision.Level // the log level that the server was told
	// promised are the elicitations whose end a server will tell, by the raw id.
	promised map[string]*Client
	// abandoned are calls that were given up a moment ago.
	abandoned []abandoned
}

// Modern tells whether requests over the connection are self-contained.
func (c *Conn) Modern() bool { return revision.IsModern(c.Version) }

// dialing is one connecting that any number of callers wait for.
type dialing struct {
	begun   time.Time
	tooLate bool // lists do not wait for it any more; guarded by backend.mu
	done    chan struct{}
	conn    *Conn
	err     error
}

// Acquire gives the connection, connecting first where there is none. The
// connecting has the proxy's lifetime: a caller whose ctx ends leaves it to the
// others.
func (l *Slot) Acquire(ctx context.Context) (*Conn, error) {
	if c := l.Ready.Load(); c != nil {
		return c, nil
	}
	a, err := l.join()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-l.Backend.replacedSignal:
		return nil, ErrReplaced
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join gives the connecting under way, or starts one.
func (l *Slot) join() (*dialing, error) {
	b := l.Backend
	b.Mu.Lock()
	defer b.Mu.Unlock()
	switch {
	case b.closed:
		return nil, b.closedError()
	case l.closed:
		return nil, errSlotClosed
	case l.attempt != nil:
		return l.attempt, nil
	}
	now := time.Now()
	if until := l.Breaker.Opened(now); !until.IsZero() {
		return nil, &breaker.TrippedError{Err: l.cause, In: until.Sub(now)}
	}
	a := &dialing{begun: now, done: make(chan struct{})}
	if c := l.Ready.Load(); c != nil { // connected since the caller looked
		a.conn = c
		close(a.done)
		return a, nil
	}
	l.attempt = a
	if l == b.Primary {
		b.Relisting.Begin()
	}
	b.Set.Work.Go(func() { l.connect(a) })
	return a, nil
}

// errSlotClosed is a link that was closed, as unused, in the moment between its
// choice and its use.
var errSlotClosed = fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)

// connect connects, learns over the primary link what the server offers, and
// lets the waiting in. What is offered is in the snapshot before the connection
// can be had.
func (l *Slot) connect(a *dialing) {
	b := l.Backend
	l.awaitEnd(b.Life)
	start := time.Now()
	var c *Conn
	var cat *inventory.Inventory
	err := b.closedError()
	if b.Life.Err() == nil { // else what was before may run still
		c, cat, err = l.openConn()
	}
	if err == nil && cat != nil {
		b.Set.Observer.Listed(b, cat, inventory.ListSet{})
	}
	b.Mu.Lock()
	switch {
	case err != nil:
	case b.closed:
		err = b.closedError()
	case l.closed:
		err = errSlotClosed
	case c.gone != nil: // before anybody could have used it
		err = c.gone
	}
	if l == b.Primary {
		b.Relisting.End()
	}
	now := time.Now()
	if err != nil {
		err = ownError(err)
		l.failures++
		l.lastErr = err
		l.retryAt = now.Add(breaker.Discovering().After(l.failures, b.Set.Random()))
		if !b.closed && !l.closed {
			l.noteFailure(err, now)
		}
	} else {
		l.failures, l.lastErr, l.retryAt = 0, nil, time.Time{}
		l.Breaker.Connected(now)
		if l.broken {
			b.restarts++
		}
		l.broken = false
		l.lastUsed, c.since = now, now
		l.Ready.Store(c)
		b.noteEra(c)
		if l == b.Primary {
			b.ConnectedOnce.Store(true)
			b.listed(cat.Whole())
		}
		b.relist()
		b.Set.watchIdle()
	}
	a.conn, a.err = c, err
	l.attempt = nil
	late := err != nil && c != nil // to be used
	if late && !b.closed {
		l.closeInBackground(c)
	}
	closed := b.closed
	b.Mu.Unlock()
	if err != nil {
		if late && closed {
			_ = c.Client.Close() // it is gone either way
		}
		if errors.Is(err, ErrReplaced) {
			close(a.done)
			return
		}
		b.Log.Warn("backend cannot be used", "elapsed", time.Since(start), "err", err)
		if l == b.Primary {
			b.Set.Observer.Listed(b, nil, inventory.ListSet{})
		}
	} else {
		b.Log.Info("backend connected", "version", c.Version, "elapsed", time.Since(start))
	}
	close(a.done)
	if err == nil && cat != nil {
		b.Save(cat)
	}
}

func (l *Slot) dial(key Key) (*Conn, error) {
	c := &Conn{Slot: l, Offer: key.Capabilities, Opened: make(chan struct{}), Calls: map[Waiter]struct{}{}, Level: revision.LevelNone}
	client, err := l.Backend.Set.o.Dial(l.Backend.Life, key, &backendHandler{conn: c})
	if err != nil {
		return nil, err
	}
	c.Client, c.Version = client, client.Info().Version
	return c, nil
}

// openConn connects and, over the primary link, loads what is offered.
func (l *Slot) openConn() (*Conn, *inventory.Inventory, error) {
	b := l.Backend
	key := l.Key
	if offer := b.Set.declares(); key.Capabilities == SharedOffer && offer != SharedOffer {
		key.Capabilities = offer
		// One connection in its own era is all that the only client needs.
		key.Legacy = true
	}
	c, err := l.dial(key)
	if err == nil && key != l.Key && slices.ContainsFunc(c.Client.Info().Versions, revision.IsModern) && sessionless(c.Client.Transport()) {
		_ = c.Client.Close() // its other era has more, see settled
		key.Legacy = false
		c, err = l.dial(key)
	}
	if err != nil {
		return nil, nil, err
	}
	client := c.Client
	if t, ok := client.Transport().(ability.Pipeline); ok {
		c.Pipe = t.Pipeline()
	}
	if t, ok := client.Transport().(ability.Remote); ok {
		c.remote = t.Remote()
	}
	c.Implementation = Describe(client.Info().Implementation)
	if !c.Modern() {
		c.PlainResults, err = revision.NewPlain(revision.Conversion{From: c.Version, To: revision.Modern, Server: b.Set.o.Info, Backend: c.Implementation})
		if err != nil {
			return c, nil, err
		}
		_, resumes := client.Transport().(ability.Resume)
		c.takesFastCalls = resumes && c.Pipe != nil
	}
	close(c.Opened)
	b.Set.Observer.Opening(b.Life, c)
	if l != b.Primary {
		return c, nil, nil
	}
	cat, err := b.load(client)
	if err != nil {
		return c, nil, fmt.Errorf("list what %s offers: %w", b.Name, err)
	}
	cat.Offer = c.Offer
	return c, cat, nil
}

// declares returns what servers are told over shared connections that they can
// ask: what the only client has declared, or all that any may come to declare.
func (s *Set) declares() string {
	if who := s.Solo.Load(); who != nil {
		if version, capabilities := who.TermsOf(); version != "" {
			return string(s.WithRoots(revision.Offer(capabilities, version, revision.Latest)))
		}
	}
	return SharedOffer
}

// ConnLost drops a connection that is gone. What the backend offered stays listed;
// the next call connects again.
func (l *Slot) ConnLost(c *Conn, err error) {
	if err == nil {
		err = runtime.ErrClosed
	}
	if l.dropConn(c, err) {
		l.Backend.Log.Warn("backend connection lost", "err", err)
	}
}

func (l *Slot) dropConn(c *Conn, err error) bool {
	b := l.Backend
	b.Mu.Lock()
	defer b.Mu.Unlock()
	c.gone = err
	// One that is not ready yet is found gone by connect, one that is left at
	// the end is closed by close.
	if b.closed || !l.Ready.CompareAndSwap(c, nil) {
		return false
	}
	b.publishFastPath()
	l.closeInBackground(c) // it still has a process to end
	l.broken = true
	l.noteFailure(err, time.Now())
	l.reconnect(1)
	return true
}

// noteFailure notes that the server has ended on its own or could not be connected.
// The caller holds the lock.
func (l *Slot) noteFailure(err error, now time.Time) {
	b := l.Backend
	l.cause = err
	b.lastErr, b.failedAt = err, now
	if l.Breaker.Failed(now) {
		b.Log.Warn("backend fails again and again: left alone for a while", "pause", breaker.TripPause, "err", err)
	}
}

// NoteClient notes who uses the connection, nil for a client without a session.
func (c *Conn) NoteClient(who *Client) {
	if c.Shared.Load() || who != nil && (c.FirstClient.Load() == who || c.FirstClient.CompareAndSwap(nil, who)) {
		return
	}
	c.Shared.Store(true)
}

// onlyClient is the one client session that has used the connection, nil where it is
// not one.
func (c *Conn) onlyClient() *Client {
	if c.Shared.Load() {
		return nil
	}
	return c.FirstClient.Load()
}

// Owner is whose the connection is, nil where it is no session's own.
func (c *Conn) Owner() *Client {
	if c.Slot.Owner != nil {
		return c.Slot.Owner
	}
	b := c.Slot.Backend
	if who := b.Set.Solo.Load(); who != nil {
		return who
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if c.reserved {
		return c.onlyClient()
	}
	return nil
}

// IsOpened tells whether it is noted what the connection is.
func (c *Conn) IsOpened() bool {
	select {
	case <-c.Opened:
		return true
	default:
		return false
	}
}

// busy tells whether a call of a client is in flight over the connection.
func (c *Conn) busy() bool {
	c.Mu.Lock()
	n := len(c.Calls)
	c.Mu.Unlock()
	return n > 0 || c.Pipe != nil && c.Pipe.Busy()
}

// begin notes a call of a client that has a goroutine; the function takes it
// back, and is told whether the call was given up.
//
// Its error is errDismissed.
func (c *Conn) begin(e Waiter) (end func(given bool), err error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.noCalls {
		return nil, errIdleClosed
	}
	return c.note(e), nil
}

// enter is begin for a call that was sent before the connection was dismissed, if
// it was.
func (c *Conn) enter(e Waiter) (end func(given bool)) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.note(e)
}

// note is begin for who holds the lock.
func (c *Conn) note(e Waiter) (end func(given bool)) {
	c.Calls[e] = struct{}{}
	c.begun++
	return func(given bool) {
		c.Mu.Lock()
		delete(c.Calls, e)
		// A modern server says nothing without being told a level.
		if from := e.Origin(); given && (!c.Modern() || !from.Modern() || from.Level < revision.LevelNone) {
			c.noteAbandonedLocked(from.Client)
		}
		c.Mu.Unlock()
		e.Ended()
	}
}

// callsBegun is how many calls the connection has ever been given.
func (c *Conn) callsBegun() uint64 {
	c.Mu.Lock()
	n := c.begun
	c.Mu.Unlock()
	if c.Pipe != nil {
		n += c.Pipe.Begun()
	}
	return n
}

// Describe gives a program's name and version as JSON, nil where it has not
// said.
func Describe(i runtime.Implementation) json.RawMessage {
	if i.Name == "" {
		return nil
	}
	raw, err := json.Marshal(i)
	if err != nil {
		panic("proxy: strings have no JSON form: " + err.Error())
	}
	return raw
}
