package upstream

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/store"
)

// request counts one that takes as long.
func (a *Activity) request(takes time.Duration) {
	start := time.Now()
	a.Began(start)
	if takes > 0 {
		time.Sleep(takes) // as time goes in a bubble
	}
	a.Ended(start, time.Now(), false)
}

// defined is the average by its definition: those of a burst count as their
// mean.
func defined(intervals []time.Duration) (value float64) {
	for i := 0; i < len(intervals); {
		n := 0
		var total time.Duration
		for i+n < len(intervals) && intervals[i+n] <= restAfter {
			total += intervals[i+n]
			n++
		}
		if n == 0 {
			n, total = 1, intervals[i]
		}
		mean := math.Max(float64(total)/float64(n), 1)
		for range n {
			if value == 0 {
				value = mean
			}
			value = 0.3*mean + 0.7*value
		}
		i += n
	}
	return value
}

// TestUsageIsTheAverageOfIntervals: by its definition, after each of a sequence
// of requests, and across a restart after any of them.
func TestUsageIsTheAverageOfIntervals(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, intervals := range map[string][]time.Duration{
		"pauses":         {time.Second, 3 * time.Second, 2 * time.Minute, time.Hour, 5 * time.Minute, 5 * time.Minute, 60 * time.Hour, time.Second},
		"a burst first":  {ms, 0, 2 * ms, time.Minute, time.Minute},
		"bursts between": {time.Second, 0, 0, 90 * ms, time.Hour, 100 * ms, 101 * ms, ms, ms, ms},
		"at once":        {0, 0, 0},
	} {
		for restart := range len(intervals) + 1 {
			synctest.Test(t, func(t *testing.T) {
				a := new(Activity)
				first := time.Now()
				a.request(0)
				for i, d := range intervals {
					if i == restart && d > restAfter { // a burst does not go on in another process
						stored := a.Usage()
						a = new(Activity)
						a.Resume(stored)
					}
					time.Sleep(d) // as time goes in the bubble
					a.request(0)
					want := defined(intervals[:i+1])
					if got := float64(a.Usage().Interval); math.Abs(got-want) > 1e-6*want+float64(i)+2 {
						t.Errorf("%s, restart at %d: after %d intervals the average is %v, want %v", name, restart, i+1, time.Duration(got), time.Duration(want))
					}
				}
				got := a.Usage()
				got.Interval = 0
				want := store.Usage{Count: uint64(len(intervals) + 1), First: first, Last: time.Now()}
				if diff := cmp.Diff(want, got, cmp.Comparer(time.Time.Equal)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestUsageOfOneRequest has no interval; that of none is the zero value.
func TestUsageOfOneRequest(t *testing.T) {
	t.Parallel()
	a := new(Activity)
	if u := a.Usage(); u != (store.Usage{}) || !a.IdleSince(time.Now()).IsZero() {
		t.Errorf("got %+v", u)
	}
	a.Began(time.Now())
	if u := a.Usage(); u.Count != 1 || u.Interval != 0 || u.First.IsZero() || !u.First.Equal(u.Last) {
		t.Errorf("got %+v", u)
	}
}

// TestUsageOfManyCallers: none is lost, and the average stays within what the
// intervals can have been.
func TestUsageOfManyCallers(t *testing.T) {
	t.Parallel()
	a, start := new(Activity), time.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				a.request(0)
				_ = a.Usage()
			}
		})
	}
	wg.Wait()
	if u := a.Usage(); u.Count != 8000 || u.Interval > time.Since(start) || a.InFlight() != 0 {
		t.Errorf("got %+v in %v", u, time.Since(start))
	}
}

// TestIdleSinceTheEnd of the last request, less than a second early, however
// long it took.
func TestIdleSinceTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := new(Activity)
		for _, takes := range []time.Duration{0, time.Millisecond, slowAfter, slowAfter + 1, time.Hour, 0} {
			a.request(takes)
			if early := time.Since(a.IdleSince(time.Now())); early < 0 || early > slowAfter {
				t.Errorf("after a request of %v: idle for %v", takes, early)
			}
			time.Sleep(time.Minute) // as time goes in the bubble
		}
	})
}
