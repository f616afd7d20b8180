package proxy

import (
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
	backend *Backend
	key     key
	// owner is whose alone it is, nil where it is no session's own.
	owner *Client
	// exclusive tells that it takes one call at a time.
	exclusive bool

	ready atomic.Pointer[Conn] // nil unless connected

	// What follows is guarded by backend.mu.

	attempt      *dialing  // the connecting under way, nil for none
	failures     int       // in a row
	retryAt      time.Time // lists leave it alone until then
	lastErr      error     // why it could not be connected, nil where it could
	breaker      breaker
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
	slot   *Slot
	opened chan struct{}
	client *runtime.Client
	// offer is what the server was told that it can ask.
	offer string
	// version is the revision that is spoken over it.
	version string
	since   time.Time // when it was connected
	// pipe takes calls without waiting; nil where the transport cannot.
	pipe *jsonrpc.Conn
	// plainResults is how plain results of a server of the handshake era reach modern
	// clients, nil for another. quick tells that calls of theirs can go over pipe
	// past the transport. implementation is who the server says it is, nil for
	// nobody.
	plainResults   *revision.Plain
	takesFastCalls bool
	implementation json.RawMessage
	// remote tells that the server is no process of ours: it may be replaced by
	// another one while the connection lasts.
	remote bool
	// firstClient is the first client session that has used the connection, crowd tells
	// that another client has, too. kept tells that the former goes on using it
	// alone, because the server has asked it; guarded by backend.mu.
	firstClient atomic.Pointer[Client]
	shared      atomic.Bool
	reserved    bool
	// gone is why the connection has ended, nil while it lives; guarded by
	// backend.mu.
	gone error

	mu sync.Mutex // guards what follows; held for memory work only
	// calls are those of clients that have a goroutine; the others are in pipe.
	calls   map[Waiter]struct{}
	begun   uint64         // of the former, ever
	noCalls bool           // no call begins any more
	level   revision.Level // the log level that the server was told
	// promised are the elicitations whose end a server will tell, by the raw id.
	promised map[string]*Client
	// abandoned are calls that were given up a moment ago.
	abandoned []abandoned
}

// modern tells whether requests over the connection are self-contained.
func (c *Conn) modern() bool { return revision.IsModern(c.version) }

// dialing is one connecting that any number of callers wait for.
type dialing struct {
	begun   time.Time
	tooLate bool // lists do not wait for it any more; guarded by backend.mu
	done    chan struct{}
	conn    *Conn
	err     error
}

// acquire gives the connection, connecting first where there is none. The
// connecting has the proxy's lifetime: a caller whose ctx ends leaves it to the
// others.
func (l *Slot) acquire(ctx context.Context) (*Conn, error) {
	if c := l.ready.Load(); c != nil {
		return c, nil
	}
	a, err := l.join()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-l.backend.replacedSignal:
		return nil, errReplaced
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join gives the connecting under way, or starts one.
func (l *Slot) join() (*dialing, error) {
	b := l.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, b.closedError()
	case l.closed:
		return nil, errSlotClosed
	case l.attempt != nil:
		return l.attempt, nil
	}
	now := time.Now()
	if until := l.breaker.opened(now); !until.IsZero() {
		return nil, &trippedError{l.cause, until.Sub(now)}
	}
	a := &dialing{begun: now, done: make(chan struct{})}
	if c := l.ready.Load(); c != nil { // connected since the caller looked
		a.conn = c
		close(a.done)
		return a, nil
	}
	l.attempt = a
	if l == b.primary {
		b.relisting.begin()
	}
	b.set.work.Go(func() { l.connect(a) })
	return a, nil
}

// errSlotClosed is a link that was closed, as unused, in the moment between its
// choice and its use.
var errSlotClosed = fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)

// connect connects, learns over the primary link what the server offers, and
// lets the waiting in. What is offered is in the snapshot before the connection
// can be had.
func (l *Slot) connect(a *dialing) {
	b := l.backend
	l.awaitEnd(b.life)
	start := time.Now()
	var c *Conn
	var cat *Inventory
	err := b.closedError()
	if b.life.Err() == nil { // else what was before may run still
		c, cat, err = l.openConn()
	}
	if err == nil && cat != nil {
		b.set.observer.listed(b, cat, changeKinds{})
	}
	b.mu.Lock()
	switch {
	case err != nil:
	case b.closed:
		err = b.closedError()
	case l.closed:
		err = errSlotClosed
	case c.gone != nil: // before anybody could have used it
		err = c.gone
	}
	if l == b.primary {
		b.relisting.end()
	}
	now := time.Now()
	if err != nil {
		err = ownError(err)
		l.failures++
		l.lastErr = err
		l.retryAt = now.Add(discovering().after(l.failures, b.set.random()))
		if !b.closed && !l.closed {
			l.noteFailure(err, now)
		}
	} else {
		l.failures, l.lastErr, l.retryAt = 0, nil, time.Time{}
		l.breaker.connected(now)
		if l.broken {
			b.restarts++
		}
		l.broken = false
		l.lastUsed, c.since = now, now
		l.ready.Store(c)
		b.noteEra(c)
		if l == b.primary {
			b.connectedOnce.Store(true)
			b.listed(cat.whole())
		}
		b.relist()
		b.set.watchIdle()
	}
	a.conn, a.err = c, err
	l.attempt = nil
	late := err != nil && c != nil // to be used
	if late && !b.closed {
		l.closeInBackground(c)
	}
	closed := b.closed
	b.mu.Unlock()
	if err != nil {
		if late && closed {
			_ = c.client.Close() // it is gone either way
		}
		if errors.Is(err, errReplaced) {
			close(a.done)
			return
		}
		b.log.Warn("backend cannot be used", "elapsed", time.Since(start), "err", err)
		if l == b.primary {
			b.set.observer.listed(b, nil, changeKinds{})
		}
	} else {
		b.log.Info("backend connected", "version", c.version, "elapsed", time.Since(start))
	}
	close(a.done)
	if err == nil && cat != nil {
		b.save(cat)
	}
}

func (l *Slot) dial(key key) (*Conn, error) {
	c := &Conn{slot: l, offer: key.Capabilities, opened: make(chan struct{}), calls: map[Waiter]struct{}{}, level: revision.LevelNone}
	client, err := l.backend.set.o.Dial(l.backend.life, key, &backendHandler{conn: c})
	if err != nil {
		return nil, err
	}
	c.client, c.version = client, client.Info().Version
	return c, nil
}

// openConn connects and, over the primary link, loads what is offered.
func (l *Slot) openConn() (*Conn, *Inventory, error) {
	b := l.backend
	key := l.key
	if offer := b.set.declares(); key.Capabilities == sharedOffer && offer != sharedOffer {
		key.Capabilities = offer
		// One connection in its own era is all that the only client needs.
		key.Legacy = true
	}
	c, err := l.dial(key)
	if err == nil && key != l.key && slices.ContainsFunc(c.client.Info().Versions, revision.IsModern) && sessionless(c.client.Transport()) {
		_ = c.client.Close() // its other era has more, see settled
		key.Legacy = false
		c, err = l.dial(key)
	}
	if err != nil {
		return nil, nil, err
	}
	client := c.client
	if t, ok := client.Transport().(ability.Pipeline); ok {
		c.pipe = t.Pipeline()
	}
	if t, ok := client.Transport().(ability.Remote); ok {
		c.remote = t.Remote()
	}
	c.implementation = describe(client.Info().Implementation)
	if !c.modern() {
		c.plainResults, err = revision.NewPlain(revision.Conversion{From: c.version, To: revision.Modern, Server: b.set.o.Info, Backend: c.implementation})
		if err != nil {
			return c, nil, err
		}
		_, resumes := client.Transport().(ability.Resume)
		c.takesFastCalls = resumes && c.pipe != nil
	}
	close(c.opened)
	b.set.observer.opening(b.life, c)
	if l != b.primary {
		return c, nil, nil
	}
	cat, err := b.load(client)
	if err != nil {
		return c, nil, fmt.Errorf("list what %s offers: %w", b.name, err)
	}
	cat.offer = c.offer
	return c, cat, nil
}

// declares returns what servers are told over shared connections that they can
// ask: what the only client has declared, or all that any may come to declare.
func (s *Set) declares() string {
	if who := s.solo.Load(); who != nil {
		if version, capabilities := who.termsOf(); version != "" {
			return string(s.withRoots(revision.Offer(capabilities, version, revision.Latest)))
		}
	}
	return sharedOffer
}

// connLost drops a connection that is gone. What the backend offered stays listed;
// the next call connects again.
func (l *Slot) connLost(c *Conn, err error) {
	if err == nil {
		err = runtime.ErrClosed
	}
	if l.dropConn(c, err) {
		l.backend.log.Warn("backend connection lost", "err", err)
	}
}

func (l *Slot) dropConn(c *Conn, err error) bool {
	b := l.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	c.gone = err
	// One that is not ready yet is found gone by connect, one that is left at
	// the end is closed by close.
	if b.closed || !l.ready.CompareAndSwap(c, nil) {
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
	b := l.backend
	l.cause = err
	b.lastErr, b.failedAt = err, now
	if l.breaker.failed(now) {
		b.log.Warn("backend fails again and again: left alone for a while", "pause", tripPause, "err", err)
	}
}

// noteClient notes who uses the connection, nil for a client without a session.
func (c *Conn) noteClient(who *Client) {
	if c.shared.Load() || who != nil && (c.firstClient.Load() == who || c.firstClient.CompareAndSwap(nil, who)) {
		return
	}
	c.shared.Store(true)
}

// onlyClient is the one client session that has used the connection, nil where it is
// not one.
func (c *Conn) onlyClient() *Client {
	if c.shared.Load() {
		return nil
	}
	return c.firstClient.Load()
}

// owner is whose the connection is, nil where it is no session's own.
func (c *Conn) owner() *Client {
	if c.slot.owner != nil {
		return c.slot.owner
	}
	b := c.slot.backend
	if who := b.set.solo.Load(); who != nil {
		return who
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.reserved {
		return c.onlyClient()
	}
	return nil
}

// isOpened tells whether it is noted what the connection is.
func (c *Conn) isOpened() bool {
	select {
	case <-c.opened:
		return true
	default:
		return false
	}
}

// busy tells whether a call of a client is in flight over the connection.
func (c *Conn) busy() bool {
	c.mu.Lock()
	n := len(c.calls)
	c.mu.Unlock()
	return n > 0 || c.pipe != nil && c.pipe.Busy()
}

// begin notes a call of a client that has a goroutine; the function takes it
// back, and is told whether the call was given up.
//
// Its error is errDismissed.
func (c *Conn) begin(e Waiter) (end func(given bool), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noCalls {
		return nil, errIdleClosed
	}
	return c.note(e), nil
}

// enter is begin for a call that was sent before the connection was dismissed, if
// it was.
func (c *Conn) enter(e Waiter) (end func(given bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.note(e)
}

// note is begin for who holds the lock.
func (c *Conn) note(e Waiter) (end func(given bool)) {
	c.calls[e] = struct{}{}
	c.begun++
	return func(given bool) {
		c.mu.Lock()
		delete(c.calls, e)
		// A modern server says nothing without being told a level.
		if from := e.origin(); given && (!c.modern() || !from.modern() || from.level < revision.LevelNone) {
			c.noteAbandonedLocked(from.client)
		}
		c.mu.Unlock()
		e.ended()
	}
}

// callsBegun is how many calls the connection has ever been given.
func (c *Conn) callsBegun() uint64 {
	c.mu.Lock()
	n := c.begun
	c.mu.Unlock()
	if c.pipe != nil {
		n += c.pipe.Begun()
	}
	return n
}

// describe gives a program's name and version as JSON, nil where it has not
// said.
func describe(i runtime.Implementation) json.RawMessage {
	if i.Name == "" {
		return nil
	}
	raw, err := json.Marshal(i)
	if err != nil {
		panic("proxy: strings have no JSON form: " + err.Error())
	}
	return raw
}
