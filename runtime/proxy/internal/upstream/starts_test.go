package upstream

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestStartLimiter: so many servers start at once, the next where one is done or has taken
// too long. One that is urgent or remote waits for none.
func TestStartLimiter(t *testing.T) {
	t.Parallel()
	most := startsPerCPU * runtime.GOMAXPROCS(0)
	urgent := make(chan struct{})
	close(urgent)
	for name, c := range map[string]struct {
		urgent <-chan struct{}
		remote bool
		takes  time.Duration
		want   map[time.Duration]int // how many of three times as many have begun by then
	}{
		"in turns":       {takes: time.Second, want: map[time.Duration]int{0: most, time.Second: 2 * most, 2 * time.Second: 3 * most}},
		"ones that hang": {takes: time.Hour, want: map[time.Duration]int{turnTime - 1: most, turnTime: 2 * most, 2 * turnTime: 3 * most}},
		"urgent":         {urgent: urgent, takes: time.Hour, want: map[time.Duration]int{0: 3 * most}},
		"remote":         {remote: true, takes: time.Hour, want: map[time.Duration]int{0: 3 * most}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, ended := NewStartLimiter(), make(chan struct{})
				var begun atomic.Int64
				for range 3 * most {
					go func() {
						done := all.Wait(t.Context(), c.urgent, !c.remote)
						defer done()
						begun.Add(1)
						select {
						case <-time.After(c.takes):
						case <-ended:
						}
					}()
				}
				for at, want := range c.want {
					time.AfterFunc(at, func() {
						synctest.Wait()
						if got := int(begun.Load()); got != want {
							t.Errorf("after %s: %d have begun, want %d", at, got, want)
						}
					})
				}
				time.Sleep(3 * turnTime)
				close(ended)
			})
		})
	}
	t.Run("given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		all := &StartLimiter{taken: make(chan struct{})}
		all.Wait(ctx, nil, true)() // returns
	})
}
