package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// IsDue reports whether a list should wait for the backend: it has offered nothing
// yet, or what is stored was offered where it could ask other things; and it has
// not failed a moment ago, and is not late already. grace is how long the list
// waits for any, from when it is to be connected; zero is no such bound.
func (b *Backend) IsDue(now time.Time, grace time.Duration) bool {
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
		return now.Before(b.waitEnd(a, now, grace))
	}
	return !now.Before(at.retryAt) && at.breaker.Opened(now).IsZero()
}

// waitEnd returns until when lists wait for a connecting: for as long as it is given,
// from when its turn has come, and no longer than grace in all, unless that is zero.
// The caller holds the lock.
func (b *Backend) waitEnd(a *dialing, now time.Time, grace time.Duration) time.Time {
	start := a.started
	if start.IsZero() {
		start = now
	}
	end := start.Add(b.Config().DiscoverWait())
	if early := a.begun.Add(grace); grace > 0 && early.Before(end) {
		return early
	}
	return end
}

// Meet connects the backend, which learns what it offers, and waits for that as
// long as lists with a grace do. It is urgent where a call waits for it.
func (b *Backend) Meet(ctx context.Context, grace time.Duration, urgent bool) {
	if a, err := b.Primary.join(urgent); err == nil {
		b.await(ctx, a, grace)
	}
}

// IsComing reports whether the backend has offered nothing yet and is being connected,
// and lists that have gone without it may be of use again.
func (b *Backend) IsComing() bool { return b.coming() != nil }

// coming returns the connecting of a backend that lists have gone without, nil for
// none.
func (b *Backend) coming() *dialing {
	if b.IsListed.Load() {
		return nil
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	now, a := time.Now(), b.Primary.attempts.current
	if a == nil || !now.Before(b.waitEnd(a, now, 0)) {
		return nil
	}
	return a
}

// AwaitComing waits for a backend that is coming; see IsComing.
func (b *Backend) AwaitComing(ctx context.Context) {
	if a := b.coming(); a != nil {
		b.await(ctx, a, 0)
	}
}

// await waits for a connecting as long as lists with a grace do.
func (b *Backend) await(ctx context.Context, a *dialing, grace time.Duration) {
	for {
		b.Pool.mu.Lock()
		left := time.Until(b.waitEnd(a, time.Now(), grace))
		b.Pool.mu.Unlock()
		t := time.NewTimer(left)
		select {
		case <-a.done:
		case <-b.life.replaced:
		case <-ctx.Done():
		case <-t.C:
			if !b.giveUpWaiting(a, grace) {
				continue // its turn came meanwhile
			}
		}
		t.Stop()
		return
	}
}

// giveUpWaiting notes that lists go without a connecting that has taken too long, and
// reports false where they are to wait on. It goes on, for the calls that need the
// backend.
func (b *Backend) giveUpWaiting(a *dialing, grace time.Duration) bool {
	b.Pool.mu.Lock()
	at := &b.Primary.attempts
	now, bound := time.Now(), b.Config().DiscoverWait()
	if now.Before(b.waitEnd(a, now, grace)) {
		b.Pool.mu.Unlock()
		return false
	}
	given := now.Before(b.waitEnd(a, now, 0)) // only the grace is over
	news := at.current == a && !a.tooLate && (!given || at.lastErr == nil)
	if news {
		a.tooLate = !given
		at.lastErr = &runtime.TimeoutError{Op: "connect", After: bound}
		if given {
			at.lastErr = &comingError{after: grace}
		}
	}
	b.Pool.mu.Unlock()
	switch {
	case news && given:
		b.Log.Info("backend is still being connected: lists go without it for now", "after", grace)
	case news:
		b.Log.Warn("backend is late: lists go without it", "after", bound)
	default:
		return true
	}
	b.Set.Observer.Listed(b, nil, inventory.ListSet{})
	return true
}

// comingError is why lists go without a backend that is being connected.
type comingError struct{ after time.Duration }

func (e *comingError) Error() string { return fmt.Sprintf("it is not connected yet after %s", e.after) }

// ExitKind is its kind in the report of a list.
func (*comingError) ExitKind() string { return "connecting" }
