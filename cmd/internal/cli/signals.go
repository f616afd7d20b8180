package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
)

const (
	// endTimeout is how long a one-shot command may take to end after a signal:
	// its server has half a second, so only what cannot be cancelled
	// takes longer, such as opening a file on a disk that does not answer.
	endTimeout = 5 * time.Second
	// repeatWindow is how long after the first signal a second one is ignored: npm,
	// systemd and others forward, or repeat as another signal, what the terminal has
	// sent to all processes. A third, or a later one, ends the process at once.
	repeatWindow = 250 * time.Millisecond
	// reapTimeout is how long a command may take to end after its child processes
	// are killed.
	reapTimeout = gateway.ReapTimeout
)

// endSignals returns the signals that end mcpctl and its servers, except SIGHUP, see
// hangups. Servers are in process groups of their own, so a closed terminal signals
// mcpctl alone.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// endingSignals is how signals end a run.
type endingSignals struct {
	// LongRunning is set by a command that runs until a signal and then drains.
	LongRunning atomic.Bool

	hangups hangups

	// Hurry, closed by HurryUp, makes child processes killed. Nil, in tests, is
	// never.
	Hurry    chan struct{}
	hurrying sync.Once
}

// RunUntilSignal returns run's exit code, and true; false if it does not end although it was told to.
func (e *endingSignals) RunUntilSignal(run func(context.Context) int) (code int, ok bool) {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	ctx, stop := signal.NotifyContext(ctx, endSignals()...)
	defer stop()
	again := make(chan os.Signal, 8)
	signal.Notify(again, endSignals()...)
	defer signal.Stop(again)
	done := make(chan struct{})
	defer close(done)
	e.hangups.handle(end, again, done)
	// Caught, so that a closed stdout (| head) becomes an error of the write, after
	// which connections close and children are reaped.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	return e.supervise(ctx, again, func() int { return run(ctx) })
}

// supervise returns run's exit code, and true. If run has not ended endTimeout after ctx, or
// gateway.HurryAfter for a long-running command, or at a further signal (see repeatWindow), its
// child processes are killed. If that does not end it either, supervise returns
// without it, and false. Signals delivers all signals, first the one that ended ctx.
func (e *endingSignals) supervise(ctx context.Context, signals <-chan os.Signal, run func() int) (code int, ok bool) {
	ended := make(chan int, 1)
	go func() {
		grow(false)
		ended <- run()
	}()
	select {
	case code := <-ended:
		return code, true
	case <-ctx.Done():
	}
	told := time.Now()
	patience := time.NewTimer(endTimeout)
	if e.LongRunning.Load() {
		patience.Reset(gateway.HurryAfter)
	}
	defer patience.Stop()
	early := 0
	for waiting := true; waiting; {
		select {
		case code := <-ended:
			return code, true
		case <-patience.C:
			waiting = false
		case <-signals:
			early++
			waiting = early <= 2 && time.Since(told) <= repeatWindow
		}
	}
	e.HurryUp()
	patience.Reset(reapTimeout)
	select {
	case code := <-ended:
		return code, true
	case <-patience.C:
		return 0, false
	}
}

// grow makes the stack of its goroutine as large as commands need it, while there is
// nothing on it to copy. It would grow in steps, and each walks the calls that are on it.
//
//go:noinline
func grow(use bool) (b byte) {
	if use { // never: what is reserved for it counts
		var stack [48 << 10]byte
		for i := range stack {
			stack[i] = b
			b += stack[i/2]
		}
	}
	return b
}

// HurryUp kills the child processes that are being ended.
func (e *endingSignals) HurryUp() {
	if e.Hurry != nil {
		e.hurrying.Do(func() { close(e.Hurry) })
	}
}
