package upstream

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/meter"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
)

// refreshAge is how old what a server was seen to offer may be, by whatever
// process, without being looked at again.
const refreshAge = 10 * time.Minute

// IsDue reports whether a list should wait for the backend: it has offered nothing
// yet, or what is stored was offered where it could ask other things; and it has
// not failed a moment ago, and is not late already.
func (b *Backend) IsDue(now time.Time) bool {
	recalled := b.IsListed.Load()
	if recalled && b.ConnectedOnce.Load() {
		return false
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	if b.Pool.closed || recalled && (b.Pool.era.modern || b.Pool.era.offer == b.Set.declares()) {
		return false
	}
	at := &b.Primary.attempts
	if a := at.current; a != nil {
		return !a.tooLate && now.Before(a.begun.Add(b.Config().DiscoverWait()))
	}
	return !now.Before(at.retryAt) && at.breaker.Opened(now).IsZero()
}

// Meet connects the backend, which learns what it offers, and waits for that as
// long as lists do.
func (b *Backend) Meet(ctx context.Context) {
	a, err := b.Primary.join()
	if err != nil {
		return
	}
	bound := b.Config().DiscoverWait()
	t := time.NewTimer(time.Until(a.begun.Add(bound)))
	defer t.Stop()
	select {
	case <-a.done:
	case <-b.life.replaced:
	case <-ctx.Done():
	case <-t.C:
		b.giveUpWaiting(a, bound)
	}
}

// giveUpWaiting notes that a connecting has taken too long for lists to wait for
// it. It goes on, for the calls that need the backend.
func (b *Backend) giveUpWaiting(a *dialing, bound time.Duration) {
	b.Pool.mu.Lock()
	news := b.Primary.attempts.current == a && !a.tooLate
	if news {
		a.tooLate = true
		b.Primary.attempts.lastErr = &runtime.TimeoutError{Op: "connect", After: bound}
	}
	b.Pool.mu.Unlock()
	if news {
		b.Log.Warn("backend is late: lists go without it", "after", bound)
		b.Set.Observer.Listed(b, nil, inventory.ListSet{})
	}
}

// Outdated reports whether what is known of the backend is old, because it has not
// been connected yet or a list could not be had, and it has not failed a moment
// ago.
func (b *Backend) Outdated(now time.Time) bool {
	if !b.IsListed.Load() || b.Config().Start == settings.StartCached {
		return false
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	s := b.Primary
	if b.Pool.closed || s.attempts.current != nil || now.Before(s.attempts.retryAt) {
		return false
	}
	lacking := b.Lists.isLacking()
	if b.ConnectedOnce.Load() && (!lacking || s.Ready.Load() != nil) {
		return false
	}
	age := now.Sub(b.Persisted.lastVerified()) // less than nothing where the clock was set back
	return lacking || age >= refreshAge || age < -meter.SetBack
}
