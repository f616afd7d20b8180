package upstream

import (
	"sync/atomic"
	"time"
)

// Activity counts a backend's requests of clients: what they ask of lists and
// what the proxy asks on its own is not among them. The zero value is ready;
// all methods may be called concurrently and take no lock.
//
// Both hooks are on the call path, where a clock reading or a line of memory
// that two cores write costs as much as the rest of them together. So
//   - they read no clock: their callers hand on the time at which the message
//     was read, one reading for all that came with one read;
//   - what the beginning writes (by the readers of the clients) and what the
//     end writes (by the reader of the backend) are apart from each other, and
//     what both would write is computed by whoever wants to know it;
//   - what is more than a few atomic operations, such as an average of
//     intervals, belongs into paused, which comes at most once in restAfter.
type Activity struct {
	Begins struct {
		N atomic.Uint64
		// first and last are when the first and the last one began, in
		// nanoseconds since 1970; zero for never.
		first, last atomic.Int64
		_           [cacheLine - 24]byte
	}
	Ends struct {
		n, failed atomic.Uint64
		// Slow is when the last one has ended that took longer than slowAfter, in
		// nanoseconds since 1970; zero for never.
		Slow atomic.Int64
		_    [cacheLine - 24]byte
		// took is how long they have taken, as their clients see it: connecting,
		// and waiting that ended in a failure, is part of it.
		took latency
	}
	// Results are those of the calls of tools, as the server sent them.
	Results  Sizes
	interval average // between two requests
	before   uint64  // requests of earlier processes
}

// cacheLine is how far apart must be what several cores write all the time: two
// lines of 64 bytes, since they are fetched in pairs.
const cacheLine = 128

// restAfter is how long there must have been no request for the next one to be
// the first of a burst.
const restAfter = 100 * time.Millisecond

// Began notes that a request begins, which was read at now. Each needs its Ended, or
// Withdrawn.
func (a *Activity) Began(now time.Time) {
	at := now.UnixNano()
	a.Begins.N.Add(1)
	last := a.Begins.last.Load()
	if at > last || last-at > int64(SetBack) {
		a.Begins.last.Store(at)
	}
	if at-last > int64(restAfter) {
		a.paused(last, at)
	}
}

// paused notes a request after a pause: none had begun since last, zero for
// never. Both are nanoseconds since 1970. It may cost something.
func (a *Activity) paused(last, now int64) {
	a.Begins.first.CompareAndSwap(0, now)
	a.interval.rested(last, now, a.Begins.N.Load())
}

// SetBack is by how much a request must come before the one before it to show
// that the clock was set back: of those that come at once some are late.
const SetBack = time.Minute

// slowAfter is how long a request takes whose end is noted apart from its beginning,
// for whoever wants to know since when the backend is idle.
const slowAfter = time.Second

// IdleSince returns when the backend was last in use, less than slowAfter early, in
// this process or one before it; the zero Time for never. What is after now was
// noted before the clock was set back: it says nothing any more.
func (a *Activity) IdleSince(now time.Time) time.Time {
	last, slow := a.Begins.last.Load(), a.Ends.Slow.Load()
	most := now.Add(SetBack).UnixNano()
	if slow > most {
		slow = 0
	}
	if last > most {
		last = 0
	}
	return moment(max(last, slow))
}

// Withdrawn takes back what began: the request takes another way, on which it
// begins again.
func (a *Activity) Withdrawn() { a.Begins.N.Add(^uint64(0)) }

// Ended notes the end of a request, however it ended, which began at start and
// was answered at end; failed is one that the server did not answer, or answered with an error.
func (a *Activity) Ended(start, end time.Time, failed bool) {
	took := end.Sub(start)
	a.Ends.took.record(end, took)
	if took > slowAfter {
		a.Ends.Slow.Store(end.UnixNano())
	}
	a.Ends.n.Add(1)
	if failed {
		a.Ends.failed.Add(1)
	}
}

// InFlight returns how many requests have begun and not ended, about: both are
// counted on the move. It is never less than there are.
func (a *Activity) InFlight() int64 {
	ended := a.Ends.n.Load()                // first: what ends meanwhile counts as in flight
	return int64(a.Begins.N.Load() - ended) //nolint:gosec // so many requests there never are
}
