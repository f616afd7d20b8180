package proxy

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// discoverTime is how long lists wait for a server that has offered nothing
	// yet, from when it began to be connected.
	discoverTime = 30 * time.Second
	// refreshAge is how old what a server was seen to offer may be, by whatever
	// process, without being looked at again.
	refreshAge = 10 * time.Minute
)

// isDue tells whether a list should wait for the backend: it has offered nothing
// yet, or what is stored was offered where it could ask other things; and it has
// not failed a moment ago, and is not late already.
func (b *Backend) isDue(now time.Time) bool {
	stored := b.isListed.Load()
	if stored && b.connectedOnce.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.primary
	if b.closed || stored && (b.modern || b.storedCapabilities == b.set.declares()) {
		return false
	}
	if a := l.attempt; a != nil {
		return !a.tooLate && now.Before(a.begun.Add(b.config().discoveryTime()))
	}
	return !now.Before(l.retryAt) && l.breaker.opened(now).IsZero()
}

// discoveryTime is how long lists wait for the server.
func (s *settings) discoveryTime() time.Duration {
	switch {
	case s.DiscoveryTimeout < 0:
		return requestCeiling
	case s.DiscoveryTimeout == 0:
		return discoverTime
	}
	return s.DiscoveryTimeout
}

// meet connects the backend, which tells what it offers, and waits for that as
// long as lists do.
func (b *Backend) meet(ctx context.Context) {
	a, err := b.primary.join()
	if err != nil {
		return
	}
	bound := b.config().discoveryTime()
	t := time.NewTimer(time.Until(a.begun.Add(bound)))
	defer t.Stop()
	select {
	case <-a.done:
	case <-b.replacedSignal:
	case <-ctx.Done():
	case <-t.C:
		b.giveUpWaiting(a, bound)
	}
}

// giveUpWaiting notes that a connecting has taken too long for lists to wait for it.
// It goes on, for the calls that need the backend.
func (b *Backend) giveUpWaiting(a *dialing, bound time.Duration) {
	b.mu.Lock()
	news := b.primary.attempt == a && !a.tooLate
	if news {
		a.tooLate = true
		b.primary.lastErr = &runtime.TimeoutError{Op: "connect", After: bound}
	}
	b.mu.Unlock()
	if news {
		b.log.Warn("backend is late: lists go without it", "after", bound)
		b.set.observer.listed(b, nil, changeKinds{})
	}
}

// outdated reports whether what is known of the backend is old, because it has not
// been connected yet or a list could not be had, and it has not failed a moment
// ago.
func (b *Backend) outdated(now time.Time) bool {
	if !b.isListed.Load() || b.config().Start == startCached {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ready := (!b.connectedOnce.Load() || b.relisting.lacking && b.primary.ready.Load() == nil) && !b.closed && b.primary.attempt == nil && !now.Before(b.primary.retryAt)
	age := now.Sub(b.verified) // less than nothing where the clock was set back
	return ready && (b.relisting.lacking || age >= refreshAge || age < -setBack)
}
