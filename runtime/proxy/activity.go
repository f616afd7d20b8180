package proxy

import (
	"sync/atomic"
	"time"
)

// activity counts a backend's requests of clients: what they ask of lists and
// what the proxy asks on its own is not among them. The zero value is ready;
// all methods may be called concurrently and take no lock.
type activity struct {
	begun    atomic.Uint64
	failed   atomic.Uint64
	inFlight atomic.Int64
	// first and last are when the first and the last one began, in nanoseconds
	// since 1970; zero for never.
	first, last atomic.Int64
	// took is how long they have taken, as their clients see it: connecting, and
	// waiting that ended in a failure, is part of it.
	took latency
}

// began notes that a request begins. Each needs its ended.
func (a *activity) began() (start time.Time) {
	start = time.Now()
	now := start.UnixNano()
	a.inFlight.Add(1)
	a.begun.Add(1)
	a.last.Store(now)
	if a.first.Load() == 0 {
		a.first.CompareAndSwap(0, now)
	}
	return start
}

// withdrawn takes back what began: the request takes another way.
func (a *activity) withdrawn() {
	a.inFlight.Add(-1)
	a.begun.Add(^uint64(0))
}

// ended notes the end of a request, however it ended; failed is one that the
// server did not answer, or answered with an error.
func (a *activity) ended(start time.Time, failed bool) {
	took := time.Since(start)
	a.took.note(start.Add(took), took)
	a.inFlight.Add(-1)
	if failed {
		a.failed.Add(1)
	}
}
