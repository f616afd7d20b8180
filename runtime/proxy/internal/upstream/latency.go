package upstream

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// latencyWindow is half of the time that latency figures speak of, at most:
	// they are of the last 5 to 10 minutes. A figure since the start would say
	// nothing of a server that has become slow after a week.
	latencyWindow = 5 * time.Minute
	// latencyUnit is the shift from nanoseconds to the unit that is counted in,
	// about a microsecond.
	latencyUnit = 10
	// Buckets are as wide as the unit below 2^latencyFine units; above, each power
	// of two has 2^latencyFine of them. So the middle of a bucket is off by at
	// most 1/2^(latencyFine+1), about 3 %, or half a unit.
	latencyFine = 4
	// latencyTop is how many powers of two there are above the fine ones: up to
	// 2^32 units, 73 minutes, which is beyond any request's ceiling.
	latencyTop     = 32 - latencyFine
	latencyBuckets = (latencyTop + 1) << latencyFine
)

// latency counts how long requests have taken, in fixed memory (4 KiB) and
// without a lock: noting one costs an atomic addition. The zero value is ready.
//
// Time is cut into windows; counts are of the present one and the one before.
// Where a window begins, a few requests that end in that moment may be lost.
type latency struct {
	halves [2]latencyHalf
}

type latencyHalf struct {
	window atomic.Int64 // the number of the window that the counts are of
	counts [latencyBuckets]atomic.Uint32
}

// bucket returns the bucket of a duration.
func bucket(d time.Duration) int {
	if d < 0 {
		return 0 // a clock that was set back
	}
	return bucketOf(uint64(d) >> latencyUnit)
}

// bucketOf returns the bucket of a number of units.
func bucketOf(n uint64) int {
	power := bits.Len64(n >> latencyFine)
	if power > latencyTop {
		return latencyBuckets - 1
	}
	if power == 0 {
		return int(n) //nolint:gosec // below 2^latencyFine
	}
	return power<<latencyFine + int(n>>(power-1)&(1<<latencyFine-1))
}

// standsFor returns the duration that a bucket stands for.
func standsFor(bucket int) time.Duration {
	low, width := bounds(bucket)
	return time.Duration((low<<1 + width) << (latencyUnit - 1)) //nolint:gosec // below 2^43
}

// bounds returns the smallest number of units in a bucket, and how many are in it.
func bounds(bucket int) (low, width uint64) {
	power, fine := bucket>>latencyFine, uint64(bucket&(1<<latencyFine-1))
	if power == 0 {
		return fine, 1
	}
	return (fine | 1<<latencyFine) << (power - 1), 1 << (power - 1)
}

// record counts a request that has taken d and ends now.
func (l *latency) record(now time.Time, d time.Duration) {
	window := now.UnixNano() / int64(latencyWindow)
	h := &l.halves[window&1]
	if was := h.window.Load(); was != window && h.window.CompareAndSwap(was, window) {
		for i := range h.counts {
			h.counts[i].Store(0)
		}
	}
	h.counts[bucket(d)].Add(1)
}

// quantiles returns how many requests were counted and the durations that the
// fractions q of them did not exceed, zero where there are none. q ascends.
func (l *latency) quantiles(now time.Time, q ...float64) (n uint64, out []time.Duration) {
	window := now.UnixNano() / int64(latencyWindow)
	var counts [latencyBuckets]uint64
	for i := range l.halves {
		h := &l.halves[i]
		if w := h.window.Load(); w != window && w != window-1 {
			continue
		}
		for b := range h.counts {
			c := uint64(h.counts[b].Load())
			counts[b] += c
			n += c
		}
	}
	out = make([]time.Duration, len(q))
	if n == 0 {
		return 0, out
	}
	for i, b := range ranked(&counts, n, q) {
		out[i] = standsFor(b)
	}
	return n, out
}

// ranked returns the buckets that the fractions q of n counts do not exceed. n is not 0,
// and q ascends.
func ranked(counts *[latencyBuckets]uint64, n uint64, q []float64) []int {
	out := make([]int, len(q))
	seen, b := counts[0], 0
	for i, f := range q {
		rank := min(n, max(1, uint64(f*float64(n)+0.999999))) // the nearest-rank definition
		for seen < rank {
			b++
			seen += counts[b]
		}
		out[i] = b
	}
	return out
}
