package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/breaker"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
)

// reconnecting is the connecting of a slot that nobody calls over.
type reconnecting struct {
	running bool      // a goroutine reconnects
	at      time.Time // and connects next then
}

// Start connects the backend if it is always to be connected. It is to be called
// when the backend is new to a proxy that has begun, or set to that.
func (b *Backend) Start() {
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	b.Primary.reconnect(0)
}

// isWanted reports whether the slot is to be connected though nobody calls over it.
// The caller holds the lock.
func (s *Slot) isWanted() bool {
	b := s.Backend
	return !b.Pool.closed && !s.closed &&
		(s == b.Primary && b.Config().Start == settings.StartEager && b.Set.begun.Load() || s.keeps.any(time.Time{}))
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
			if _, err := s.Acquire(s.Backend.life.ctx); err == nil {
				n = 0 // it may be lost again by now
			}
		}
	})
}

// pauseBeforeReconnect waits until it is time to connect a slot anew. It reports
// false, and ends the reconnecting, where that is no longer called for.
func (s *Slot) pauseBeforeReconnect(failures int) bool {
	b := s.Backend
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if s.isWanted() && s.Ready.Load() == nil {
		now := time.Now()
		at := now.Add(breaker.Connecting().After(failures, b.Set.Random()))
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
