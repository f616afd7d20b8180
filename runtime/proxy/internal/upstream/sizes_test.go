package upstream

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestSizes compares with a sorted list, across a restart in the middle.
func TestSizes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	s := new(Sizes)
	if got := s.Encode(); got != "" {
		t.Errorf("nothing is kept as %q", got)
	}
	var all []int
	for i := range 5000 {
		n := int(r.ExpFloat64() * 3000)
		all = append(all, n)
		s.Record(make([]byte, n))
		if i == 2000 {
			stored := s.Encode()
			s = new(Sizes)
			if s.Resume(stored); s.Encode() != stored {
				t.Fatal("what was kept is kept otherwise")
			}
		}
	}
	slices.Sort(all)
	at := []float64{0.01, 0.5, 0.99, 1}
	n, got := Quantiles(s.Encode(), at...)
	if n != 5000 {
		t.Errorf("counted %d, want 5000", n)
	}
	for i, f := range at {
		want := all[int(f*5000)-1]
		if off := max(got[i]-want, want-got[i]); off > want/32+1 {
			t.Errorf("%v: got %d, want %d", f, got[i], want)
		}
	}
}

// TestSizesOfNothing: what is no counts, is none.
func TestSizesOfNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", "\x01\x01\xcf\x03\x01", "\x01\xff\xff\xff\xff\xff\x01"} {
		if n, got := Quantiles(text, 0.5); n != 0 || got[0] != 0 {
			t.Errorf("%q: %d, %v", text, n, got)
		}
		new(Sizes).Resume(text)
	}
	s := new(Sizes)
	s.counts[bucketOf(1<<40)].Add(1)
	if n, got := Quantiles(s.Encode(), 0.5); n != 1 || got[0] < 1<<30 {
		t.Errorf("%d, %v", n, got)
	}
}

// TestSizesCost: noting one allocates nothing, and none is lost.
func TestSizesCost(t *testing.T) {
	s := new(Sizes)
	result := make([]byte, 999)
	s.Record(nil)
	if n := testing.AllocsPerRun(99, func() { s.Record(result) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				s.Record(result[:i])
				if i%100 == 0 {
					_ = s.Encode()
				}
			}
		})
	}
	wg.Wait()
	if n, _ := Quantiles(s.Encode(), 0.5); n != 8100 {
		t.Errorf("counted %d, want 8100", n)
	}
}
