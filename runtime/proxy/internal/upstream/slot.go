package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Slot is one of a backend's connections, by its key: idle, connecting or ready.
// It is connected when it is first needed, once, however many wait for it, and
// again when it was lost.
type Slot struct {
	Backend *Backend
	Key     Key
	// Owner is the only session that uses the connection, nil if several do.
	Owner *Client
	// Exclusive says that it takes one call at a time.
	Exclusive bool

	Ready atomic.Pointer[Conn] // nil unless connected

	// What follows is guarded by Pool.mu.

	principal    *access.Principal // the latest with the key's principal, nil for ""
	holder       string            // the principal who alone uses it, "" for nobody in particular; see slots.evict
	attempts     attempts
	reconnecting reconnecting
	use          use
	ending       <-chan struct{} // closed once the connection before has ended; nil: it has
	suspectedAt  time.Time       // last connected again because the server seemed another
	closed       bool

	// Keeps are what keeps it connected though nobody calls; those without end have it
	// connected again when the connection is lost, too.
	Keeps Leases
}

// attempts are those to connect a slot.
type attempts struct {
	current  *dialing  // nil for none
	failures int       // in a row
	retryAt  time.Time // lists leave the slot alone until then
	lastErr  error     // why it could not be connected, nil where it could
	breaker  Breaker
	cause    error // the latest failure or end that the breaker was told of
	lost     bool  // the connection was lost, and there is none since
}

// use is when a slot is used.
type use struct {
	taken bool      // an exclusive one is in use
	last  time.Time // an own one was last seen in use
	begun uint64    // calls begun by then
}

// dialing is one connecting that any number of callers wait for.
type dialing struct {
	Attempt      // guarded by Pool.mu
	expired bool // lists do not wait for it any more; guarded by Pool.mu
	done    chan struct{}
	conn    *Conn
	err     error
}

// Acquire returns the connection, connecting first where there is none. The
// connecting has the backend's lifetime: a caller whose ctx ends leaves it to the
// others.
func (s *Slot) Acquire(ctx context.Context) (*Conn, error) {
	if c := s.Ready.Load(); c != nil {
		return c, nil
	}
	a, err := s.join(true)
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-s.Backend.life.replaced:
		return nil, ErrReplaced
	case <-ctx.Done():
		return nil, deadline.Err(ctx)
	}
}

// join returns the connecting under way, or starts one. An urgent one does not wait
// for its turn.
func (s *Slot) join(urgent bool) (*dialing, error) {
	b := s.Backend
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	switch {
	case b.Pool.closed:
		return nil, b.closedError()
	case s.closed:
		return nil, errSlotClosed
	case s.attempts.current != nil:
		s.attempts.current.Promote(urgent)
		return s.attempts.current, nil
	}
	now := time.Now()
	if until := s.attempts.breaker.Opened(now); !until.IsZero() {
		return nil, &TrippedError{Err: s.attempts.cause, In: until.Sub(now)}
	}
	a := &dialing{Attempt: NewAttempt(now), done: make(chan struct{})}
	a.Promote(urgent)
	if c := s.Ready.Load(); c != nil { // connected since the caller looked
		a.conn = c
		close(a.done)
		return a, nil
	}
	s.attempts.current = a
	if s.isDiscovery() {
		b.Lists.Begin()
	}
	b.Set.Work.Go(func() { s.connect(a) })
	return a, nil
}

// errSlotClosed is a slot that was closed, as unused, in the moment between its
// choice and its use.
var errSlotClosed = fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)

// connect connects, learns over the primary slot what the server offers, and lets
// the waiting in. What is offered is in clients' lists before the connection can
// be had.
func (s *Slot) connect(a *dialing) {
	b := s.Backend
	s.awaitEnd(b.life.ctx)
	done := b.Set.Turns.Wait(b.life.ctx, a.Urgent(), b.Config().Local)
	start := time.Now()
	b.Pool.mu.Lock()
	a.Connects(start)
	b.Pool.mu.Unlock()
	var c *Conn
	var offers *inventory.Inventory
	err := b.closedError()
	if b.life.ctx.Err() == nil { // else what was before may run still
		c, offers, err = s.open()
	}
	done()
	listed := err == nil && offers != nil
	if listed {
		b.Set.Observer.Listed(b, offers, inventory.ListSet{})
	}
	err = s.conclude(a, c, offers, err)
	switch {
	case err == nil:
		b.Log.Info("backend connected", "version", c.Version, "elapsed", time.Since(start))
	case errors.Is(err, ErrReplaced), b.life.ctx.Err() != nil:
	default:
		b.Log.Warn("backend cannot be used", "elapsed", time.Since(start), "err", err)
		if s.isDiscovery() {
			b.Set.Observer.Listed(b, nil, inventory.ListSet{})
		}
	}
	if err == nil {
		b.Set.Observer.Opened(b.life.ctx, c)
	}
	close(a.done)
	if listed { // also where the end of the proxy has come in between
		b.Persisted.Save(offers)
	}
}

// conclude notes how a dialing has ended: with a connection, an error, or both where
// the connection is not to be used. It returns what those who wait for it get.
func (s *Slot) conclude(a *dialing, c *Conn, offers *inventory.Inventory, err error) error {
	b := s.Backend
	b.Pool.mu.Lock()
	switch {
	case err != nil:
	case b.Pool.closed:
		b.Pool.noteEra(c) // which is kept with what it offers
		err = b.closedError()
	case s.closed:
		err = errSlotClosed
	case c.gone != nil: // before anybody could have used it
		err = c.gone
	}
	if s.isDiscovery() {
		b.Lists.End()
	}
	if err != nil {
		err = localError(err)
		s.noteDialFailed(err)
	} else {
		s.noteDialed(c, offers)
	}
	a.conn, a.err = c, err
	s.attempts.current = nil
	unused, closed := err != nil && c != nil, b.Pool.closed
	if unused && !closed {
		s.closeInBackground(c)
	}
	b.Pool.mu.Unlock()
	if unused && closed {
		_ = c.Client.Close() // it is gone either way
	}
	return err
}

// noteDialFailed notes that the slot could not be connected. The caller holds the
// lock.
func (s *Slot) noteDialFailed(err error) {
	a, now := &s.attempts, time.Now()
	a.failures++
	a.lastErr = err
	a.retryAt = now.Add(Discovering().After(a.failures, s.Backend.Set.Random()))
	if !s.Backend.Pool.closed && !s.closed {
		s.noteFailure(err, now)
	}
}

// noteDialed notes that the slot is connected. The caller holds the lock.
func (s *Slot) noteDialed(c *Conn, offers *inventory.Inventory) {
	b, a, now := s.Backend, &s.attempts, time.Now()
	if a.lost {
		b.Pool.restarts++
	}
	a.failures, a.lastErr, a.retryAt, a.lost = 0, nil, time.Time{}, false
	a.breaker.Connected(now)
	s.use.last, c.since = now, now
	s.Ready.Store(c)
	b.Pool.noteEra(c)
	if s.isDiscovery() {
		b.ConnectedOnce.Store(true)
	}
	if offers != nil {
		b.Lists.connected(offers.Whole())
	}
	b.Set.reaper.Start()
}

// open connects and, over the primary slot, loads what is offered.
func (s *Slot) open() (*Conn, *inventory.Inventory, error) {
	b := s.Backend
	key := s.Key
	if offer, only := b.Set.onlyClientsOffer(); only {
		// One era is all that the only client needs: its own, over its own connections
		// as over the shared one.
		key.Legacy = true
		if key.Capabilities == SharedOffer {
			key.Capabilities = offer
		}
	}
	c, err := s.dial(key)
	if err == nil && key != s.Key && slices.ContainsFunc(c.Client.Info().Versions, revision.IsModern) && ability.Sessionless(c.Client.Transport()) {
		_ = c.Client.Close() // its other era has more, see noteEra
		key.Legacy = false
		c, err = s.dial(key)
	}
	if err != nil {
		return nil, nil, err
	}
	if t, ok := c.Client.Transport().(ability.Pipeline); ok {
		c.Pipe = t.Pipeline()
	}
	c.Implementation = client.Describe(c.Client.Info().Implementation)
	if !c.Modern() {
		c.PlainResults, err = revision.NewPlain(revision.Conversion{From: c.Version, To: revision.Modern, Server: b.Set.o.Info, Backend: c.Implementation})
		if err != nil {
			return c, nil, err
		}
	}
	close(c.Opened)
	b.Set.Observer.Opening(b.life.ctx, c)
	if !s.isDiscovery() || s != b.Primary && b.Pool.DiscoveryConn() != nil {
		return c, nil, nil
	}
	offers, err := b.load(c)
	if err != nil {
		return c, nil, fmt.Errorf("list what %s offers: %w", b.Name, err)
	}
	return c, offers, nil
}

// load asks for what the server offers. What only one principal may have is not in it:
// all clients get the same lists.
func (b *Backend) load(c *Conn) (*inventory.Inventory, error) {
	offers, err := inventory.Load(b.life.ctx, b.Log, c.Client)
	if err != nil {
		return nil, err
	}
	offers.Offer = c.Offer
	if b.Config().PerPrincipal {
		offers.Items[inventory.Resources] = nil
	}
	return offers, nil
}

func (s *Slot) dial(key Key) (*Conn, error) {
	c := NewConn(s, key.Capabilities)
	c.shakes = key.Legacy
	s.Backend.Pool.mu.Lock()
	principal := s.principal
	s.Backend.Pool.mu.Unlock()
	client, err := s.Backend.Set.o.Dial(s.Backend.life.ctx, key, principal, &backendHandler{conn: c})
	if err != nil {
		return nil, err
	}
	c.Client, c.Version = client, client.Info().Version
	return c, nil
}

// noteFailure notes that the server has ended on its own or could not be connected.
// The caller holds the lock.
func (s *Slot) noteFailure(err error, now time.Time) {
	b := s.Backend
	s.attempts.cause = err
	b.Pool.lastErr, b.Pool.failedAt = err, now
	if s.attempts.breaker.Failed(now) {
		b.Log.Warn("backend fails repeatedly: paused", "pause", TripPause, "err", err)
	}
}

// ResetBreaker forgets how often the server has failed.
func (s *Slot) ResetBreaker() {
	s.Backend.Pool.mu.Lock()
	defer s.Backend.Pool.mu.Unlock()
	s.attempts.breaker = Breaker{}
}

// endWait bounds how long connecting waits for the connection before it to be
// ended: longer than any transport takes.
const endWait = 10 * time.Second

// closeInBackground ends a connection that is out of use. The next one is not made
// before that: some programs cannot run twice. The caller holds the lock, and the
// backend is not closed.
func (s *Slot) closeInBackground(c *Conn) {
	ended := make(chan struct{})
	s.ending = ended
	s.Backend.Set.Work.Go(func() {
		defer close(ended)
		_ = c.Client.Close() // it is gone either way
	})
}

// awaitEnd waits for the connection before to be ended, within bounds.
func (s *Slot) awaitEnd(ctx context.Context) {
	s.Backend.Pool.mu.Lock()
	ending := s.ending
	s.Backend.Pool.mu.Unlock()
	if ending == nil {
		return
	}
	t := time.NewTimer(endWait)
	defer t.Stop()
	select {
	case <-ending:
	case <-t.C:
	case <-ctx.Done():
	}
}
