package upstream

import (
	"math"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
)

// smoothing is the weight of the newest interval in the average.
const smoothing = 0.3

// average is the exponential moving average, with the factor 0.3, of the time
// from the beginning of one request to that of the next: the first interval is
// the average, and each later one moves it by 0.3 of the difference. Pauses
// count in full. Of a burst, in which no two requests are more than restAfter
// apart, all intervals count as their mean: so the call path has nothing to
// compute. The zero value has no average yet.
type average struct {
	mu    sync.Mutex // guards what follows; for memory work only
	value float64    // nanoseconds, 0 for none yet
	since int64      // when the burst began, in nanoseconds since 1970; 0 for never
	n     uint64     // how many requests had begun by then, its first among them
}

// rested takes in a request after a pause. The last one before it has begun at
// last, in nanoseconds since 1970 as now is; n have begun by now, this one among
// them.
func (a *average) rested(last, now int64, n uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since > 0 && a.since-now < int64(SetBack) {
		if last < a.since || now <= a.since {
			return // another request has ended the same pause
		}
		a.value = with(a.value, int64(n-a.n)-1, last-a.since) //nolint:gosec // a difference, below zero where one was withdrawn
		a.value = with(a.value, 1, now-last)
	}
	a.since, a.n = now, n
}

// get returns the average where n requests have begun by now, the last one at
// last; 0 where there is none yet.
func (a *average) get(last int64, n uint64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Duration(with(a.value, int64(n-a.n), last-a.since)) //nolint:gosec // a difference, as above
}

// with returns the average with n more intervals that are total long together.
func with(value float64, n, total int64) float64 {
	if n <= 0 || total < 0 {
		return value
	}
	mean := math.Max(float64(total)/float64(n), 1) // 0 is none
	if value == 0 {
		return mean
	}
	return mean + (value-mean)*math.Pow(1-smoothing, float64(n))
}

// Usage returns what is known of a backend's use, in this process and in those
// before it, but for Results.
func (a *Activity) Usage() store.Usage {
	n, last := a.Begins.N.Load(), a.Begins.last.Load()
	return store.Usage{
		Count: a.before + n,
		First: moment(a.Begins.first.Load()), Last: moment(last),
		Interval: a.interval.get(last, n),
	}
}

// Resume takes over what is known of the backend's use before this process. It is
// to be called before the first request.
func (a *Activity) Resume(u store.Usage) {
	a.before = u.Count
	a.Results.Resume(u.Results)
	a.Begins.first.Store(nanoseconds(u.First))
	a.Begins.last.Store(nanoseconds(u.Last))
	a.interval.mu.Lock()
	defer a.interval.mu.Unlock()
	a.interval.value, a.interval.since = float64(max(u.Interval, 0)), nanoseconds(u.Last)
}

// moment returns a time in nanoseconds since 1970, the zero Time for 0.
func moment(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Figures are what an activity has counted.
type Figures struct {
	Calls, Failed uint64
	InFlight      int64
	Last          time.Time // when the last one began, zero for never
	Timed         uint64    // of how many the following is
	P50, P99      time.Duration
}

// Figures returns what has been counted by now.
func (a *Activity) Figures(now time.Time) Figures {
	n, q := a.Ends.took.quantiles(now, 0.5, 0.99)
	return Figures{a.Begins.N.Load(), a.Ends.failed.Load(), a.InFlight(), moment(a.Begins.last.Load()), n, q[0], q[1]}
}
