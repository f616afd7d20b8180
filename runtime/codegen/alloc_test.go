//go:build !race

package codegen_test

import (
	"math"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestAllocCall: a generated call costs at most 3 allocations and 30 % of the
// time more than the same call written by hand. Of the time, the best of many
// short rounds counts, which is what it takes when nothing else runs.
func TestAllocCall(t *testing.T) {
	const moreAllocs, moreTime, rounds, batch = 3, 1.3, 100, 50
	for name, pair := range calls(t.Context(), func(err error) {
		require.NoError(t, err)
	}) {
		got, want := testing.AllocsPerRun(100, pair[0]), testing.AllocsPerRun(100, pair[1])
		if got > want+moreAllocs {
			t.Errorf("%s: %v allocations, %v by hand", name, got, want)
		}
		best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for range rounds {
			for i, call := range pair {
				start := time.Now()
				for range batch {
					call()
				}
				best[i] = min(best[i], time.Since(start))
			}
		}
		ratio := float64(best[0]) / float64(best[1])
		if ratio > moreTime {
			t.Errorf("%s: takes %.2f times as long as by hand", name, ratio)
		}
		t.Logf("%s: %v allocations, %v by hand; %.2f times as long", name, got, want, ratio)
	}
}
