package deadline_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
)

// TestBound: a clock tells what it has ended for, and the ceiling holds however
// large the limit.
func TestBound(t *testing.T) {
	for name, c := range map[string]struct {
		limit, alive, want time.Duration // alive: a sign of life that often
		asks               bool
	}{
		"silent":         {limit: time.Minute, want: time.Minute},
		"alive":          {limit: time.Minute, alive: 50 * time.Second, want: time.Hour},
		"asking":         {limit: time.Minute, asks: true, want: time.Hour},
		"a larger limit": {limit: 2 * time.Hour, want: time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, clock := deadline.Start(t.Context(), c.limit, time.Hour)
			defer clock.Stop()
			if c.asks {
				defer clock.Suspend()()
			}
			for c.alive > 0 && ctx.Err() == nil {
				time.Sleep(c.alive)
				clock.Alive()
			}
			<-ctx.Done()
			if !clock.Expired() || clock.Bound() != c.want {
				t.Errorf("%s: ended %t for %v", name, clock.Expired(), clock.Bound())
			}
			if after := time.Since(start); after > time.Hour+c.alive {
				t.Errorf("%s: ended after %v", name, after)
			}
		})
	}
}
