package upstream

import (
	"sync"
	"time"
)

// Leases keep a connection, each until a time, zero for without end. The zero value
// has none. All methods may be called concurrently.
type Leases struct {
	mu sync.Mutex // guards all; no other lock is taken under it
	m  map[*time.Time]struct{}
}

// Add adds a reason, until a time or release.
func (r *Leases) Add(until time.Time) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = map[*time.Time]struct{}{}
	}
	r.m[&until] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.m, &until)
	}
}

// Any reports whether there is a reason at a time; the zero time asks for those
// without end.
func (r *Leases) Any(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for until := range r.m {
		if until.IsZero() || !now.IsZero() && now.Before(*until) {
			return true
		}
	}
	return false
}
