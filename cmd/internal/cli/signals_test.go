package cli

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
)

func TestSupervise(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	const inTheEnd = never + 1 // with its child processes
	for _, tt := range []struct {
		name        string
		longRunning bool
		ends        time.Duration // after it is told to
		signals     []time.Duration
		code        int // 0: it is given up
		after       time.Duration
	}{
		{"ends in time", false, 500 * time.Millisecond, nil, 7, 500 * time.Millisecond},
		{"never ends", false, never, nil, 0, endTimeout + reapTimeout},
		{"serves", true, 9 * time.Second, nil, 7, 9 * time.Second},
		{"serves, and never ends", true, never, nil, 0, gateway.EndBound},
		{"once", true, 3 * time.Second, []time.Duration{0}, 7, 3 * time.Second},
		{"twice in a row is once", true, 3 * time.Second, []time.Duration{0, 100 * time.Millisecond}, 7, 3 * time.Second},
		{"three times in a row is not", true, inTheEnd, []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}, 7, 200 * time.Millisecond},
		{"three times at once is not", true, inTheEnd, []time.Duration{0, 0, 0}, 7, 0},
		{"told again", true, never, []time.Duration{0, 100 * time.Millisecond, 2 * time.Second}, 0, 2*time.Second + reapTimeout},
		{"told again, soon", true, inTheEnd, []time.Duration{0, 251 * time.Millisecond}, 7, 251 * time.Millisecond},
		{"told again, one thing", false, never, []time.Duration{0, 2 * time.Second}, 0, 2*time.Second + reapTimeout},
		{"told again, and ends when there is no time left", true, inTheEnd, []time.Duration{0, time.Second}, 7, time.Second},
		{"ends when there is no time left", true, inTheEnd, nil, 7, gateway.HurryAfter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				a := &endingSignals{Hurry: make(chan struct{})}
				hurry := a.Hurry
				if tt.ends != inTheEnd {
					hurry = nil
				}
				a.LongRunning.Store(tt.longRunning)
				signals := make(chan os.Signal, len(tt.signals))
				release := make(chan struct{})
				start := time.Now()
				cancel()
				for _, d := range tt.signals {
					time.AfterFunc(d, func() { signals <- os.Interrupt })
				}
				got, ok := a.supervise(ctx, signals, func() int {
					select {
					case <-time.After(tt.ends):
					case <-hurry:
					case <-release:
					}
					return 7
				})
				if after := time.Since(start); got != tt.code || ok != (tt.code != 0) || after != tt.after {
					t.Errorf("got code %d after %s, want %d after %s", got, after, tt.code, tt.after)
				}
				close(release) // abandoned work ends with the process
			})
		})
	}
	t.Run("nobody tells it", func(t *testing.T) {
		t.Parallel()
		if got, ok := (&endingSignals{}).supervise(t.Context(), nil, func() int { return 3 }); got != 3 || !ok {
			t.Errorf("got code %d, want 3", got)
		}
	})
}
