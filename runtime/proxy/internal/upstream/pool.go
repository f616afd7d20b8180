package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

const (
	// MaxSlots bounds the connections of a backend besides the shared ones.
	// Beyond it one that is idle makes room, or one of the principal with the most,
	// else callers share, and questions that cannot be told to belong to one of them
	// are refused.
	MaxSlots = 16
	// YieldIdle is how long one of those must be idle to make room for another's.
	YieldIdle = 30 * time.Second
)

// Pool is the connections to a server, and what decides who shares them.
type Pool struct {
	b *Backend

	mu         sync.Mutex // guards what follows, the slots, and of a Conn what says so; held for memory work only
	closed     bool       // nothing connects any more
	slots      slots      // besides the primary one
	busy       []*Conn    // that are no slot's any more, and still have calls
	exclusives uint64     // exclusive slots ever made
	holdUntil  time.Time  // connections are kept until then, see KeepForAnswers
	restarts   uint64     // connections made in the place of one that was lost
	lastErr    error      // the latest failure or end of any slot, nil for none
	failedAt   time.Time
	era        Era
}

// Acquire returns the connection that a client's request takes. done is called
// when the request has ended.
func (p *Pool) Acquire(ctx context.Context, from *Caller) (_ *Conn, done func(), _ error) {
	if !p.b.ConnectedOnce.Load() {
		// It tells the era, and what there is to ask for.
		teller, err := p.DiscoverySlot(from.Who)
		if err == nil {
			_, err = teller.Acquire(ctx)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for again := true; ; again = false {
		if from.Slot != nil && again {
			c, err := from.Slot.Acquire(ctx)
			if !errors.Is(err, errSlotClosed) {
				return c, func() {}, err
			}
			continue
		}
		s, err := p.SelectSlot(from)
		if err != nil {
			return nil, nil, err
		}
		c, err := s.Acquire(ctx)
		switch {
		case err == nil && s.Exclusive:
			return c, func() { p.Release(s) }, nil
		case err == nil && again && s.Key.Legacy && !p.shakesHands(from):
			p.dropUnused(s)
			continue // its handshake has shown to lead nowhere
		case err == nil:
			return c, func() {}, nil
		case s.Exclusive:
			p.Release(s)
		}
		if again && errors.Is(err, errSlotClosed) {
			continue
		}
		if shared := p.fallback(from, s); shared != nil && ctx.Err() == nil {
			if c, shared := shared.Acquire(ctx); shared == nil {
				return c, func() {}, nil
			}
		}
		return nil, nil, err
	}
}

// shakesHands reports whether a client's requests take the handshake era.
func (p *Pool) shakesHands(from *Caller) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	request := from.sharing()
	return request.Legacy(&p.era)
}

// dropUnused ends a slot's connection unless somebody uses it.
func (p *Pool) dropUnused(s *Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		s.closeIdle()
	}
}

// fallback returns the shared slot for a client whose own cannot be connected, nil
// where it must not be used: some programs run once only.
func (p *Pool) fallback(from *Caller, s *Slot) *Slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	request := from.sharing()
	shared, err := p.shared(from, request.Legacy(&p.era))
	if err != nil || shared == s || p.b.Config().Isolation != IsolationAuto || p.closed {
		return nil
	}
	return shared
}

// Release takes an exclusive slot back.
func (p *Pool) Release(s *Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.use.taken, s.use.last = false, time.Now()
}

// SelectSlot chooses the slot for a client's request. A private one is remembered
// with the client, where the fast path finds it. The error is a [*CrowdedError].
func (p *Pool) SelectSlot(from *Caller) (*Slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	request := from.sharing()
	shared, err := p.shared(from, request.Legacy(&p.era))
	if err != nil {
		return nil, err
	}
	if from.Client != nil && from.Client.State.Ended.Load() {
		return shared, nil // nobody would close what is its own
	}
	isolation := p.b.Config().Isolation
	choice, offer := request.Choose(&p.era, isolation)
	if choice == ShareEra {
		return shared, nil
	}
	if c := shared.Ready.Load(); from.Client != nil && isolation != IsolationSession && c != nil && c.reserved && c.FirstClient.Load() == from.Client {
		p.assign(from.Client, shared)
		return shared, nil
	}
	key := shared.Key
	key.Capabilities = string(p.b.Set.WithRoots(json.RawMessage(offer)))
	var s *Slot
	switch choice {
	case ShareSession:
		s = p.slotFor(key.OfSession(from.Client.ID), from.Client, from.Who.Key())
	case ShareEquals:
		s = p.slotFor(key, nil, from.Who.Key())
	default:
		s = p.exclusiveSlot(key, from.Who.Key())
	}
	if s == nil {
		return shared, nil // there are too many already
	}
	if isolation == IsolationAuto && s.attempts.failures > 0 && time.Now().Before(s.attempts.retryAt) {
		s.use.taken = false
		return shared, nil // see fallback
	}
	s.principal, s.use.last = shared.principal, time.Now()
	if from.Client != nil {
		p.assign(from.Client, s)
	}
	return s, nil
}

// assign has a client's calls and subscriptions go over a slot from now on. The
// caller holds the lock.
func (p *Pool) assign(client *Client, s *Slot) {
	if client.State.assign(p.b, s) {
		p.b.Set.Observer.Moved(client, s)
	}
}

// slotFor returns the slot with a key for a principal, nil where there are too many to
// make one. The caller holds the lock.
func (p *Pool) slotFor(key Key, owner *Client, holder string) *Slot {
	if s := p.slots[key]; s != nil {
		if s.holder != holder {
			s.holder = "" // several use it
		}
		return s
	}
	if !key.IsShared() && !p.slots.evict(holder) {
		return nil
	}
	s := &Slot{Backend: p.b, Key: key, Owner: owner, holder: holder}
	p.slots[key] = s
	p.b.Set.reaper.Start()
	return s
}

// exclusiveSlot returns a slot that nobody else uses until it is released, nil where
// there are too many. The caller holds the lock.
func (p *Pool) exclusiveSlot(key Key, holder string) *Slot {
	for k, s := range p.slots {
		if s.Exclusive && !s.use.taken && k.Capabilities == key.Capabilities && k.Legacy == key.Legacy && k.Principal == key.Principal {
			s.use.taken, s.holder = true, holder
			return s
		}
	}
	p.exclusives++
	s := p.slotFor(key.OfCall(p.exclusives), nil, holder)
	if s != nil {
		s.Exclusive, s.use.taken = true, true
	}
	return s
}

// lastUse returns when the slot was last seen in use. The caller holds the lock.
func (s *Slot) lastUse() time.Time {
	if c := s.Ready.Load(); c != nil {
		if n := c.callsBegun(); n != s.use.begun {
			s.use.begun, s.use.last = n, time.Now()
		}
	}
	return s.use.last
}

// Close closes a slot for good and forgets it.
func (s *Slot) Close() {
	s.Backend.Pool.mu.Lock()
	defer s.Backend.Pool.mu.Unlock()
	s.close()
}

// close is Close for a caller that holds the lock.
func (s *Slot) close() {
	if s.closed {
		return
	}
	b := s.Backend
	s.closed = true
	delete(b.Pool.slots, s.Key)
	c := s.Ready.Swap(nil)
	b.Pool.publishFastPath()
	if c != nil && !b.Pool.closed {
		b.Set.Work.Go(func() { _ = c.Client.Close() })
	}
}

// closeClient closes what was a client's own.
func (p *Pool) closeClient(client *Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, s := range p.slots {
		if s.Owner == client && k.IsSessions() {
			s.close()
		}
	}
}

// everySlot returns the primary slot, and then the others. The caller holds the
// lock.
func (p *Pool) everySlot() []*Slot {
	all := []*Slot{p.b.Primary}
	for _, s := range p.slots {
		all = append(all, s)
	}
	return all
}

// CountSlots returns how many slots there are besides the primary one.
func (p *Pool) CountSlots() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots)
}

// Connections returns those that are ready.
func (p *Pool) Connections() (all []*Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all = append(all, p.busy...)
	for _, s := range p.everySlot() {
		if c := s.Ready.Load(); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// Failure returns why the backend cannot be used now, nil where nothing is known
// against it.
func (p *Pool) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.b.Config().PerPrincipal && !p.b.ConnectedOnce.Load() {
		return ErrUnmet // why somebody's cannot be connected is nobody else's business
	}
	return p.b.Primary.attempts.lastErr
}
