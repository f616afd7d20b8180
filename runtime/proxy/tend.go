package proxy

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
)

// begin connects the servers that are to be connected always, in the background:
// there is a client, or will be.
func (s *backends) begin() {
	if s.begun.Swap(true) {
		return
	}
	for _, b := range s.all() {
		b.start()
	}
}

// start connects the backend if it is to be connected always. It is to be called
// when the backend is new to a proxy that has begun, or set to that.
func (b *backend) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.primary.tend(0)
}

// wanted tells whether the link is to be connected though nobody calls over it.
// The caller holds the lock.
func (l *link) wanted() bool {
	b := l.b
	return !b.closed && !l.closed &&
		(l == b.primary && b.set().Start == startEager && b.p.begun.Load() || l.keeps.lasting())
}

// tend sees to it, in the background, that a link is connected that is wanted
// and is not connected, after a number of failures: nobody's call might ever do
// so. The caller holds the lock.
func (l *link) tend(failures int) {
	if l.tended || !l.wanted() || l.ready.Load() != nil {
		return
	}
	l.tended = true
	l.b.p.work.Go(func() { // ends with the backend, at the latest
		for n := failures; l.pauseBefore(n); n++ {
			if _, err := l.acquire(l.b.life); err == nil {
				n = 0 // it may be lost again by now
			}
		}
	})
}

// pauseBefore waits until it is time to connect a link anew. It reports false,
// and ends its being tended, where that is no longer called for.
func (l *link) pauseBefore(failures int) bool {
	b := l.b
	b.mu.Lock()
	if !l.wanted() || l.ready.Load() != nil {
		l.tended = false
		b.mu.Unlock()
		return false
	}
	now := time.Now()
	l.tendAt = now.Add(connecting().after(failures, b.p.random()))
	if until := l.breaker.opened(now); until.After(l.tendAt) {
		l.tendAt = until
	}
	at := l.tendAt
	b.mu.Unlock()
	if deadline.Pause(b.life, time.Until(at)) == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l.tended = false
	return false
}
