package upstream

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSpareTurns: while there is room more servers are started than there are turns, but
// not without end; else the others wait for a turn.
func TestSpareTurns(t *testing.T) {
	turns, most := perCPU*runtime.GOMAXPROCS(0), mostPerCPU*runtime.GOMAXPROCS(0)
	const while = 500 * time.Millisecond
	for name, c := range map[string]struct {
		spare func(begun int, since time.Duration) int // nil: it is not known
		want  int                                      // that have begun after two seconds
	}{
		"none":                {func(int, time.Duration) int { return 0 }, turns},
		"it is not known":     {nil, turns},
		"one at a time":       {func(int, time.Duration) int { return 1 }, most},
		"many at a time":      {func(int, time.Duration) int { return 1000 }, most},
		"after a while":       {func(_ int, since time.Duration) int { return int(since / while) }, most},
		"until some have one": {func(begun int, _ time.Duration) int { return min(turns+3-begun, 2) }, turns + 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				all, start := NewStartLimiter(), time.Now()
				var begun atomic.Int64
				all.Spare = nil
				if c.spare != nil {
					all.Spare = func() int { return c.spare(int(begun.Load()), time.Since(start)) }
				}
				for range 2 * most {
					go func() {
						done := all.Wait(ctx, nil, true)
						defer done()
						if ctx.Err() == nil {
							begun.Add(1)
							<-ctx.Done()
						}
					}()
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := int(begun.Load()); got != c.want {
					t.Errorf("%d have begun, want %d", got, c.want)
				}
			})
		})
	}
}

// TestSpareTurnsSoon: servers that only sleep are all started in a moment.
func TestSpareTurnsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, start := NewStartLimiter(), time.Now()
		all.Spare = func() int { return 1 }
		var last atomic.Int64
		for range 10 * runtime.GOMAXPROCS(0) {
			go func() {
				done := all.Wait(t.Context(), nil, true)
				defer done()
				last.Store(int64(time.Since(start)))
				time.Sleep(300 * time.Millisecond)
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if took, most := time.Duration(last.Load()), time.Duration(10*runtime.GOMAXPROCS(0))*lookFirst; took > most {
			t.Errorf("the last has begun after %s, want %s", took, most)
		}
	})
}
