package wait_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
)

// deadlined is a test whose deadline is set, and that notes how it failed.
type deadlined struct {
	testing.TB

	end    time.Time
	bound  bool
	failed string
}

func (d *deadlined) Deadline() (time.Time, bool) { return d.end, d.bound }
func (d *deadlined) Helper()                     {}

func (d *deadlined) Fatalf(format string, args ...any) {
	d.failed = format
	for _, a := range args {
		d.failed += " " + a.(string)
	}
	runtime.Goexit()
}

// run runs f as another test would, and returns how it failed.
func run(t *testing.T, end time.Time, bound bool, f func(testing.TB)) string {
	t.Helper()
	d := &deadlined{TB: t, end: end, bound: bound}
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		f(d)
	}()
	<-done
	return d.failed
}

// TestEnds waits for what never comes: the test fails at its deadline, not before.
func TestEnds(t *testing.T) {
	never := func(tb testing.TB) { wait.Until(tb, "the moon", func() bool { return false }) }
	silent := func(tb testing.TB) { wait.For(tb, "the moon", make(chan int)) }
	for name, c := range map[string]struct {
		in    time.Duration
		bound bool
		f     func(testing.TB)
		want  time.Duration
	}{
		"until":            {time.Minute, true, never, 50 * time.Second},
		"for":              {time.Minute, true, silent, 50 * time.Second},
		"no deadline":      {0, false, never, 5 * time.Minute},
		"already too late": {time.Second, true, never, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				failed := run(t, start.Add(c.in), c.bound, c.f)
				if took := time.Since(start); took < c.want || took > c.want+time.Second {
					t.Errorf("it ended after %v, want %v", took, c.want)
				}
				if !strings.Contains(failed, "the moon") {
					t.Errorf("it does not say what it waited for: %q", failed)
				}
			})
		})
	}
}

// TestBubble: a test in a bubble has no deadline.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := time.Until(wait.Deadline(t)); got != 5*time.Minute {
			t.Errorf("got %v", got)
		}
		start := time.Now()
		wait.Until(t, "a minute", func() bool { return time.Since(start) >= time.Minute })
	})
}

// TestHappens waits for what comes late.
func TestHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, c := time.Now(), make(chan int, 1)
		failed := run(t, start.Add(time.Minute), true, func(tb testing.TB) {
			wait.Until(tb, "20 s", func() bool { return time.Since(start) > 20*time.Second })
			time.AfterFunc(20*time.Second, func() { c <- 7 })
			if got := wait.For(tb, "7", c); got != 7 {
				t.Errorf("got %d, want 7", got)
			}
			close(c)
			wait.For(tb, "the close", c)
			ctx := wait.Context(tb)
			if <-ctx.Done(); !errors.Is(ctx.Err(), context.DeadlineExceeded) || time.Since(start) != 50*time.Second {
				t.Errorf("the context ended with %v after %v", ctx.Err(), time.Since(start))
			}
		})
		if failed != "" {
			t.Error(failed)
		}
	})
}
