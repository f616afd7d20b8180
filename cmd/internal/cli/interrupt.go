package cli

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
)

const (
	// endTimeout is how long a one-shot command may take to end after a signal:
	// its server has callGrace and callShutdown, so only what cannot be cancelled
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

// supervise returns run's exit code. If run has not ended endTimeout after ctx, or
// gateway.HurryAfter for a long-running command, or at a further signal (see repeatWindow), its
// child processes are killed. If that does not end it either, supervise returns
// without it. Signals delivers all signals, first the one that ended ctx.
func (e *ending) supervise(ctx context.Context, signals <-chan os.Signal, run func() int) int {
	ended := make(chan int, 1)
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	told := time.Now()
	patience := time.NewTimer(endTimeout)
	if e.longRunning.Load() {
		patience.Reset(gateway.HurryAfter)
	}
	defer patience.Stop()
	early := 0
	for waiting := true; waiting; {
		select {
		case code := <-ended:
			return code
		case <-patience.C:
			waiting = false
		case <-signals:
			early++
			waiting = early <= 2 && time.Since(told) <= repeatWindow
		}
	}
	e.hurryUp()
	patience.Reset(reapTimeout)
	select {
	case code := <-ended:
		return code
	case <-patience.C:
		return exitInterrupted
	}
}

// hurryUp kills the child processes that are being ended.
func (e *ending) hurryUp() {
	if e.hurry != nil {
		e.hurrying.Do(func() { close(e.hurry) })
	}
}
