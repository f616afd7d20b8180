package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/breaker"

	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
)

// Begin connects the servers that are to be connected always, in the background:
// there is a client, or will be.
func (s *Set) Begin() {
	if s.begun.Swap(true) {
		return
	}
	for _, b := range s.All() {
		b.Start()
	}
}

// Start connects the backend if it is to be connected always. It is to be called
// when the backend is new to a proxy that has begun, or set to that.
func (b *Backend) Start() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Primary.reconnect(0)
}

// isWanted tells whether the link is to be connected though nobody calls over it.
// The caller holds the lock.
func (l *Slot) isWanted() bool {
	b := l.Backend
	return !b.closed && !l.closed &&
		(l == b.Primary && b.Config().Start == startEager && b.Set.begun.Load() || l.keeps.lasting())
}

// reconnect sees to it, in the background, that a link is connected that is wanted
// and is not connected, after a number of failures: nobody's call might ever do
// so. The caller holds the lock.
func (l *Slot) reconnect(failures int) {
	if l.reconnecting || !l.isWanted() || l.Ready.Load() != nil {
		return
	}
	l.reconnecting = true
	l.Backend.Set.Work.Go(func() { // ends with the backend, at the latest
		for n := failures; l.pauseBeforeReconnect(n); n++ {
			if _, err := l.Acquire(l.Backend.Life); err == nil {
				n = 0 // it may be lost again by now
			}
		}
	})
}

// pauseBeforeReconnect waits until it is time to connect a link anew. It reports false,
// and ends its being tended, where that is no longer called for.
func (l *Slot) pauseBeforeReconnect(failures int) bool {
	b := l.Backend
	b.Mu.Lock()
	if !l.isWanted() || l.Ready.Load() != nil {
		l.reconnecting = false
		b.Mu.Unlock()
		return false
	}
	now := time.Now()
	l.reconnectAt = now.Add(breaker.Connecting().After(failures, b.Set.Random()))
	if until := l.Breaker.Opened(now); until.After(l.reconnectAt) {
		l.reconnectAt = until
	}
	at := l.reconnectAt
	b.Mu.Unlock()
	if deadline.Pause(b.Life, time.Until(at)) == nil {
		return true
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	l.reconnecting = false
	return false
}
