// Package deadline bounds a call by its last sign of life.
package deadline

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrExpired is the cause of a context that a Clock has ended.
var ErrExpired = errors.New("timed out")

// Pause waits for d, or until ctx ends, which is its error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IdleTimeout is a context that ends Limit after the last sign of life, and never later than
// Ceiling after the start. It is safe for concurrent use.
type IdleTimeout struct {
	Scope

	limit   time.Duration
	ceiling time.Duration
	end     time.Time

	mu        sync.Mutex // guards what follows
	timer     *time.Timer
	suspended int
}

// Start makes a context with a clock. A limit of 0 or less never ends it.
func Start(ctx context.Context, limit, ceiling time.Duration) (context.Context, *IdleTimeout) {
	k := &IdleTimeout{limit: limit, ceiling: ceiling, end: time.Now().Add(ceiling)}
	k.Start(ctx)
	if limit > 0 {
		k.timer = time.AfterFunc(min(limit, ceiling), func() { k.End(ErrExpired) })
	}
	return k, k
}

// Value implements [context.Context].
func (k *IdleTimeout) Value(name any) any {
	if name == (key{}) {
		return k
	}
	return k.Scope.Value(name)
}

// key finds the clock of a context.
type key struct{}

// Alive notes a sign of life for all that bounds ctx by one, though nothing
// belongs to the call that ctx is of: a server that works on it was heard from.
func Alive(ctx context.Context) {
	for {
		k, ok := ctx.Value(key{}).(*IdleTimeout)
		if !ok {
			return
		}
		k.Alive()
		ctx = k.parent
	}
}

// Suspend is [IdleTimeout.Suspend] for all that bounds ctx by a sign of life.
func Suspend(ctx context.Context) (resume func()) {
	var all []func()
	for {
		k, ok := ctx.Value(key{}).(*IdleTimeout)
		if !ok {
			break
		}
		all = append(all, k.Suspend())
		ctx = k.parent
	}
	return func() {
		for _, resume := range all {
			resume()
		}
	}
}

// Alive notes a sign of life.
func (k *IdleTimeout) Alive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rearm()
}

// rearm lets the clock run for a while, as far as the ceiling lets it; a
// suspended one has the ceiling alone. The caller holds the lock.
func (k *IdleTimeout) rearm() {
	if k.timer == nil {
		return
	}
	left := time.Until(k.end)
	if k.suspended == 0 {
		left = min(k.limit, left)
	}
	k.timer.Reset(left)
}

// Suspend leaves the ceiling alone to end the context, until resume is called:
// a person has been asked something and may take their time.
func (k *IdleTimeout) Suspend() (resume func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.suspended++
	k.rearm()
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.suspended--
		k.rearm()
	}
}

// Expired reports whether the clock, and not its parent, has ended the context.
func (k *IdleTimeout) Expired() bool { return errors.Is(k.ended(), ErrExpired) }

// Bound is what a clock that has expired has ended the context for: the limit
// without a sign of life, or the ceiling.
func (k *IdleTimeout) Bound() time.Duration {
	if time.Now().Before(k.end) {
		return k.limit
	}
	return k.ceiling
}

// Stop frees the clock and ends its context.
func (k *IdleTimeout) Stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
	k.End(nil)
}
