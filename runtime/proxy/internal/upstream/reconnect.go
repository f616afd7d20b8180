package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime"
)

// ConnLost drops a connection that is gone. What the backend offered stays listed;
// the next call connects again.
func (s *Slot) ConnLost(c *Conn, err error) {
	if err == nil {
		err = runtime.ErrClosed
	}
	b := s.Backend
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	c.gone = err
	// One that is not ready yet is found gone by connect, one that is left at
	// the end is closed by close.
	if b.Pool.closed || !s.Ready.CompareAndSwap(c, nil) {
		return
	}
	b.Pool.publishFastPath()
	s.closeInBackground(c) // it still has a process to end
	s.attempts.lost = true
	s.noteFailure(err, time.Now())
	s.reconnect(1)
	b.Log.Warn("backend connection lost", "err", err)
}

// suspectEvery is how often a connection is made again because of what the server
// says: one that goes on saying so is taken at its word.
const suspectEvery = time.Minute

// suspect takes a connection out of use, so that the next call makes a new one and
// finds the era out again; calls in flight over it go on. It reports false where
// that was done a moment ago.
func (s *Slot) suspect(c *Conn) bool {
	b := s.Backend
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	switch {
	case b.Pool.closed:
		return false
	case s.Ready.Load() != c:
		return true // another call has done so
	case time.Since(s.suspectedAt) < suspectEvery:
		return false
	}
	s.suspectedAt = time.Now()
	b.retire(s)
	return true
}

// reconnecting is the connecting of a slot that nobody calls over.
type reconnecting struct {
	running bool      // a goroutine reconnects
	at      time.Time // and connects next then
}

// isWanted reports whether the slot is to be connected though nobody calls over it.
// The caller holds the lock.
func (s *Slot) isWanted() bool {
	b := s.Backend
	return !b.Pool.closed && !s.closed &&
		(s == b.Primary && !b.Config().PerPrincipal && b.Config().Start == StartEager && b.Set.HasBegun() || s.Keeps.Any(time.Time{}))
}

// reconnect connects, in the background, a slot that is wanted and not connected,
// after a number of failures: nobody's call might ever do so. The caller holds the
// lock.
func (s *Slot) reconnect(failures int) {
	if s.reconnecting.running || !s.isWanted() || s.Ready.Load() != nil {
		return
	}
	s.reconnecting.running = true
	s.Backend.Set.Work.Go(func() { // ends with the backend, at the latest
		for n := failures; s.pauseBeforeReconnect(n); n++ {
			a, err := s.join(false)
			if err == nil {
				<-a.done // which the backend's end is, too
				err = a.err
			}
			if err == nil {
				n = 0 // it may be lost again by now
			}
		}
	})
}

// pauseBeforeReconnect waits until it is time to connect a slot again. It reports
// false, and ends the reconnecting, where that is no longer called for.
func (s *Slot) pauseBeforeReconnect(failures int) bool {
	b := s.Backend
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if s.isWanted() && s.Ready.Load() == nil {
		now := time.Now()
		at := now.Add(Connecting().After(failures, b.Set.Random()))
		if until := s.attempts.breaker.Opened(now); until.After(at) {
			at = until
		}
		s.reconnecting.at = at
		b.Pool.mu.Unlock()
		err := deadline.Pause(b.life.ctx, time.Until(at))
		b.Pool.mu.Lock()
		if err == nil {
			return true
		}
	}
	s.reconnecting.running = false
	return false
}
