package upstream

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// TestLatencyError holds what is promised of the buckets: each duration falls
// into one whose middle is off by 1/32 of it, or by half a unit, at most.
func TestLatencyError(t *testing.T) {
	t.Parallel()
	check := func(d time.Duration) {
		t.Helper()
		m := standsFor(bucket(d))
		if off := (m - d).Abs(); off > max(d/32, 1<<(latencyUnit-1)) {
			t.Fatalf("%v stands for %v, off by %v", m, d, off)
		}
	}
	for d := time.Duration(0); d < 200*time.Microsecond; d += 100 {
		check(d)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		check(time.Duration(r.Uint64()>>(23+r.IntN(40))).Abs() % (70 * time.Minute))
	}
	last := -1
	for d := time.Duration(0); d < 2*time.Hour; d += d/100 + 100 {
		b := bucket(d)
		if b < last || b > last+1 && d < time.Hour || b >= latencyBuckets {
			t.Fatalf("bucket %d of %v follows bucket %d", b, d, last)
		}
		last = b
	}
	if bucket(-time.Second) != 0 || bucket(1<<62) != latencyBuckets-1 {
		t.Error("durations that make no sense have no bucket at the ends")
	}
	if n := unsafe.Sizeof(latency{}); n > 4096 {
		t.Errorf("it takes %d bytes", n)
	}
}

// TestLatencyQuantiles compares with a sorted list, and has the window pass.
func TestLatencyQuantiles(t *testing.T) {
	t.Parallel()
	var l latency
	now := time.Unix(0, 100*int64(latencyWindow)) // a window begins
	if n, q := l.quantiles(now, 0.5, 0.99); n != 0 || q[0] != 0 || q[1] != 0 {
		t.Errorf("of nothing: %d, %v", n, q)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var all []time.Duration
	for range 5000 {
		d := time.Duration(r.ExpFloat64() * float64(20*time.Millisecond))
		all = append(all, d)
		l.record(now.Add(time.Second), d)
	}
	slices.Sort(all)
	at := []float64{0.01, 0.5, 0.9, 0.99, 1}
	exactly := func(now time.Time, want uint64) {
		t.Helper()
		n, got := l.quantiles(now, at...)
		if n != want {
			t.Fatalf("counted %d, want %d", n, want)
		}
		for i, f := range at {
			want := all[max(0, int(f*float64(len(all))+0.999999)-1)]
			if off := (got[i] - want).Abs(); off > max(want/32, time.Microsecond) {
				t.Errorf("%v: got %v, want %v", f, got[i], want)
			}
		}
	}
	exactly(now.Add(2*time.Second), 5000)
	exactly(now.Add(2*latencyWindow-1), 5000) // in the next window they still count
	if n, _ := l.quantiles(now.Add(2*latencyWindow), 0.5); n != 0 {
		t.Errorf("%d of two windows ago still count", n)
	}
	l.record(now.Add(2*latencyWindow), time.Second) // takes the same half
	if n, q := l.quantiles(now.Add(2*latencyWindow), 0.5); n != 1 || q[0] < 970*time.Millisecond || q[0] > 1030*time.Millisecond {
		t.Errorf("in the new window: %d, %v", n, q)
	}
}

// TestLatencyRace counts from many sides while somebody reads: no count within
// a window is lost.
func TestLatencyRace(t *testing.T) {
	t.Parallel()
	var l latency
	now := time.Unix(1000, 0)
	l.record(now, 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				l.record(now, time.Duration(i)*time.Microsecond)
				if i%100 == 0 {
					l.quantiles(now, 0.5)
				}
			}
		})
	}
	wg.Wait()
	if n, _ := l.quantiles(now, 0.5); n != 8001 {
		t.Errorf("counted %d, want 8001", n)
	}
}

// BenchmarkActivity is what counting costs a call, without readings of the clock,
// which calls share.
func BenchmarkActivity(b *testing.B) {
	a := new(Activity)
	b.ReportAllocs()
	start := time.Now()
	end, result := start.Add(time.Millisecond), make([]byte, 700)
	for b.Loop() {
		a.Began(start)
		a.Ended(start, end, false)
		a.Results.Record(result)
	}
}
