package upstream

import (
	"sync"
	"time"
)

// keeps are reasons to keep a slot connected though nobody may have called over it
// for long. The zero value has none.
type keeps struct {
	mu sync.Mutex // guards all; no other lock is taken under it
	m  map[*time.Time]struct{}
}

// Keep keeps the slot, and has it connected again when the connection is lost,
// until release.
func (l *Slot) Keep() (release func()) { return l.KeepUntil(time.Time{}) }

// KeepUntil keeps the slot from being closed as idle, until a time or release. The
// zero time is that of keep.
func (l *Slot) KeepUntil(until time.Time) (release func()) {
	k := &l.keeps
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil {
		k.m = map[*time.Time]struct{}{}
	}
	k.m[&until] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.m, &until)
	}
}

// any reports whether anything keeps the slot at a time.
func (k *keeps) any(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for until := range k.m {
		if until.IsZero() || now.Before(*until) {
			return true
		}
	}
	return false
}

// lasting reports whether anything keeps the slot without a time.
func (k *keeps) lasting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for until := range k.m {
		if until.IsZero() {
			return true
		}
	}
	return false
}
