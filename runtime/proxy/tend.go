package proxy

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
)

// begin connects the servers that are to be connected always, in the background:
// there is a client, or will be.
func (s *Set) begin() {
	if s.begun.Swap(true) {
		return
	}
	for _, b := range s.all() {
		b.start()
	}
}

// start connects the backend if it is to be connected always. It is to be called
// when the backend is new to a proxy that has begun, or set to that.
func (b *Backend) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.primary.reconnect(0)
}

// isWanted tells whether the link is to be connected though nobody calls over it.
// The caller holds the lock.
func (l *Slot) isWanted() bool {
	b := l.backend
	return !b.closed && !l.closed &&
		(l == b.primary && b.config().Start == startEager && b.set.begun.Load() || l.keeps.lasting())
}

// reconnect sees to it, in the background, that a link is connected that is wanted
// and is not connected, after a number of failures: nobody's call might ever do
// so. The caller holds the lock.
func (l *Slot) reconnect(failures int) {
	if l.reconnecting || !l.isWanted() || l.ready.Load() != nil {
		return
	}
	l.reconnecting = true
	l.backend.set.work.Go(func() { // ends with the backend, at the latest
		for n := failures; l.pauseBeforeReconnect(n); n++ {
			if _, err := l.acquire(l.backend.life); err == nil {
				n = 0 // it may be lost again by now
			}
		}
	})
}

// pauseBeforeReconnect waits until it is time to connect a link anew. It reports false,
// and ends its being tended, where that is no longer called for.
func (l *Slot) pauseBeforeReconnect(failures int) bool {
	b := l.backend
	b.mu.Lock()
	if !l.isWanted() || l.ready.Load() != nil {
		l.reconnecting = false
		b.mu.Unlock()
		return false
	}
	now := time.Now()
	l.reconnectAt = now.Add(connecting().after(failures, b.set.random()))
	if until := l.breaker.opened(now); until.After(l.reconnectAt) {
		l.reconnectAt = until
	}
	at := l.reconnectAt
	b.mu.Unlock()
	if deadline.Pause(b.life, time.Until(at)) == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l.reconnecting = false
	return false
}
