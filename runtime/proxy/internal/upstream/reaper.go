package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/store"
)

const (
	// ReapEvery is how often connections are looked at, to close those that are
	// idle: a connection lasts for up to that much longer than its time.
	ReapEvery = 30 * time.Second
	// OwnIdle is how long a connection may be idle that not every client shares:
	// the server may keep something for those who do.
	OwnIdle = 10 * time.Minute
)

// reap closes what is idle, and has written how servers are used. It reports whether
// anything is left.
func (s *Set) reap() (left bool) {
	for _, b := range s.All() {
		left = b.Pool.Reap() || left
		b.Persisted.SaveUsage()
	}
	return left
}

// Reap has the backend's idle connections closed, side by side and without
// waiting for it. It reports whether any are left.
func (p *Pool) Reap() (left bool) {
	usage := p.b.Activity.Usage()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	now := time.Now()
	for _, s := range p.everySlot() {
		s.lastUse()
		at, ever := s.idleAt(usage)
		if ever && !now.Before(at) && !s.isNeeded(now) {
			s.closeIdle()
		}
		left = left || s.Ready.Load() != nil || s != p.b.Primary && !s.Key.IsEverybodys()
	}
	return left
}

// idleAt returns when the slot will have been idle for long enough to be closed,
// if nobody uses it; false for never. The caller holds the lock.
func (s *Slot) idleAt(u store.Usage) (time.Time, bool) {
	b, c := s.Backend, s.Ready.Load()
	if s != b.Primary && !s.Key.IsEverybodys() {
		d, ever := OwnIdle, true
		if set := b.Config(); set.IdleTimeout != 0 {
			d, ever = set.IdleBound(u, true)
		}
		return s.use.last.Add(d), ever
	}
	if c == nil {
		return time.Time{}, false
	}
	d, ever := b.Config().IdleBound(u, c.isUsed())
	since := c.since
	if last := b.Activity.IdleSince(time.Now()); c.isUsed() && last.After(since) {
		since = last
	}
	return since.Add(d), ever
}

// isNeeded reports whether the slot must stay though nobody may have called over it
// for long. The caller holds the lock.
func (s *Slot) isNeeded(now time.Time) bool {
	b, c := s.Backend, s.Ready.Load()
	asked, _ := b.Lists.state()
	switch {
	case s.use.taken, s.attempts.current != nil, c != nil && c.isBusy():
		return true
	case asked && s.isDiscovery():
		return true
	case s.Owner != nil && b.Config().Isolation == IsolationSession:
		return true // it lives as long as the session
	case now.Before(b.Pool.holdUntil):
		return true
	}
	return s.Keeps.Any(now)
}

// closeIdle closes the slot's connection unless somebody is just about to use it.
// A slot that not all share is forgotten. The caller holds the lock.
func (s *Slot) closeIdle() {
	b, c := s.Backend, s.Ready.Load()
	if c != nil && !c.CloseIfIdle() {
		return
	}
	if c != nil {
		b.Log.Info("backend is idle: disconnected", "requests", b.Activity.Begins.N.Load())
	}
	if s != b.Primary && !s.Key.IsEverybodys() {
		s.close()
		return
	}
	if c != nil && s.Ready.CompareAndSwap(c, nil) { // else somebody else has closed it
		b.Pool.publishFastPath()
		s.closeInBackground(c)
	}
}

// KeepForAnswers keeps the backend's connections while somebody has been asked
// something that it may wait for, without a call in flight: as long as the answer
// is taken.
func (p *Pool) KeepForAnswers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holdUntil = time.Now().Add(seal.StateTTL)
}
