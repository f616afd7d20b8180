package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/meter"

	"context"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// DiscoverTime is how long lists wait for a server that has offered nothing
	// yet, from when it began to be connected.
	DiscoverTime = 30 * time.Second
	// refreshAge is how old what a server was seen to offer may be, by whatever
	// process, without being looked at again.
	refreshAge = 10 * time.Minute
)

// IsDue tells whether a list should wait for the backend: it has offered nothing
// yet, or what is stored was offered where it could ask other things; and it has
// not failed a moment ago, and is not late already.
func (b *Backend) IsDue(now time.Time) bool {
	stored := b.IsListed.Load()
	if stored && b.ConnectedOnce.Load() {
		return false
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	l := b.Primary
	if b.closed || stored && (b.modern || b.storedCapabilities == b.Set.declares()) {
		return false
	}
	if a := l.attempt; a != nil {
		return !a.tooLate && now.Before(a.begun.Add(b.Config().discoveryTime()))
	}
	return !now.Before(l.retryAt) && l.Breaker.Opened(now).IsZero()
}

// discoveryTime is how long lists wait for the server.
func (s *Settings) discoveryTime() time.Duration {
	switch {
	case s.DiscoveryTimeout < 0:
		return limits.RequestCeiling
	case s.DiscoveryTimeout == 0:
		return DiscoverTime
	}
	return s.DiscoveryTimeout
}

// Meet connects the backend, which tells what it offers, and waits for that as
// long as lists do.
func (b *Backend) Meet(ctx context.Context) {
	a, err := b.Primary.join()
	if err != nil {
		return
	}
	bound := b.Config().discoveryTime()
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
	b.Mu.Lock()
	news := b.Primary.attempt == a && !a.tooLate
	if news {
		a.tooLate = true
		b.Primary.lastErr = &runtime.TimeoutError{Op: "connect", After: bound}
	}
	b.Mu.Unlock()
	if news {
		b.Log.Warn("backend is late: lists go without it", "after", bound)
		b.Set.Observer.Listed(b, nil, inventory.ListSet{})
	}
}

// Outdated reports whether what is known of the backend is old, because it has not
// been connected yet or a list could not be had, and it has not failed a moment
// ago.
func (b *Backend) Outdated(now time.Time) bool {
	if !b.IsListed.Load() || b.Config().Start == startCached {
		return false
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	ready := (!b.ConnectedOnce.Load() || b.Relisting.lacking && b.Primary.Ready.Load() == nil) && !b.closed && b.Primary.attempt == nil && !now.Before(b.Primary.retryAt)
	age := now.Sub(b.Verified) // less than nothing where the clock was set back
	return ready && (b.Relisting.lacking || age >= refreshAge || age < -meter.SetBack)
}
