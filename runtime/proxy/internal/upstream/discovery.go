package upstream

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Due is what a list is to do about a backend.
type Due int

// What a list is to do about a backend.
const (
	DueNothing    Due = iota
	DueBackground     // it is connected beside the list, which goes without it or with what is stored
	DueWait           // the list waits for it
)

// Due returns what a list is to do about the backend. It waits for one that has offered
// nothing yet and makes progress; grace bounds how long in all, zero does not. What has
// failed or was late once, or is stored, delays no list.
func (b *Backend) Due(principal *access.Principal, now time.Time, grace time.Duration) Due {
	recalled := b.IsListed.Load()
	if recalled && b.ConnectedOnce.Load() {
		return DueNothing
	}
	teller, err := b.Pool.DiscoverySlot(principal)
	if err != nil {
		return DueNothing
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if b.Pool.closed || recalled && (b.Pool.era.Modern || b.Pool.era.Offer == b.Set.declares()) {
		return DueNothing
	}
	at := &teller.attempts
	switch a := at.current; {
	case a != nil && !recalled && !a.expired && at.failures == 0 && now.Before(a.WaitEnd(now, b.Config().DiscoverWait(), grace)):
		return DueWait
	case a != nil, now.Before(at.retryAt), !at.breaker.Opened(now).IsZero():
		return DueNothing
	case recalled, at.failures > 0:
		return DueBackground
	}
	return DueWait
}

// Connect connects the backend, which learns what it offers, and waits for nothing.
func (b *Backend) Connect(principal *access.Principal) {
	if teller, err := b.Pool.DiscoverySlot(principal); err == nil {
		_, _ = teller.join(false) // who needs it learns how that ends
	}
}

// Coming returns what is closed when the backend, which has offered nothing yet, has
// been connected or that has failed; nil where it is not being connected.
func (b *Backend) Coming() <-chan struct{} {
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if b.IsListed.Load() {
		return nil
	}
	for _, s := range b.Pool.everySlot() {
		if s.isDiscovery() && s.attempts.current != nil {
			return s.attempts.current.done
		}
	}
	return nil
}

// Discover connects the backend, which learns what it offers, and waits for that as
// long as lists with a grace do. It is urgent where a call waits for it.
func (b *Backend) Discover(ctx context.Context, principal *access.Principal, grace time.Duration, urgent bool) {
	teller, err := b.Pool.DiscoverySlot(principal)
	if err != nil {
		return // whoever calls learns why
	}
	a, err := teller.join(urgent)
	for waits := err == nil; waits; {
		b.Pool.mu.Lock()
		t := time.NewTimer(time.Until(a.WaitEnd(time.Now(), b.Config().DiscoverWait(), grace)))
		b.Pool.mu.Unlock()
		select {
		case <-a.done:
			waits = false
		case <-b.life.replaced:
			waits = false
		case <-ctx.Done():
			waits = false
		case <-t.C: // else its turn has come meanwhile
			waits = !b.giveUpWaiting(teller, a, grace)
		}
		t.Stop()
	}
}

// EnsureDiscovered connects the backend, which learns what it offers, for a call that waits for
// it. The error is a [*Error].
func (b *Backend) EnsureDiscovered(ctx context.Context, principal *access.Principal) error {
	teller, err := b.Pool.DiscoverySlot(principal)
	if err == nil {
		_, err = teller.Acquire(ctx)
	}
	if err != nil {
		return b.Fail(err)
	}
	return nil
}

// giveUpWaiting notes that lists go without a connecting that has taken too long, and
// reports false where they are to wait on. It goes on, for the calls that need the
// backend.
func (b *Backend) giveUpWaiting(s *Slot, a *dialing, grace time.Duration) bool {
	now, bound, at := time.Now(), b.Config().DiscoverWait(), &s.attempts
	b.Pool.mu.Lock()
	over := !now.Before(a.WaitEnd(now, bound, grace))
	overdue := !now.Before(a.WaitEnd(now, bound, 0)) // not the grace alone is over
	news := over && at.current == a && !a.expired && (overdue || at.lastErr == nil)
	switch {
	case news && overdue:
		a.expired, at.lastErr = true, &runtime.TimeoutError{Op: "connect", After: bound}
	case news:
		at.lastErr = &ComingError{After: grace}
	}
	b.Pool.mu.Unlock()
	switch {
	case news && overdue:
		b.Log.Warn("backend is late: lists go without it", "after", bound)
	case news:
		b.Log.Info("backend is still being connected: lists go without it", "after", grace)
	}
	if news {
		b.Set.Observer.Listed(b, nil, inventory.ListSet{})
	}
	return over
}
