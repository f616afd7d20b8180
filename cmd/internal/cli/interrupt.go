package cli

import (
	"context"
	"os"
	"syscall"
	"time"
)

const (
	// endPatience is how long a command that does one thing may take to end
	// once it is told to: its server has callGrace and callShutdown, so only
	// what cannot be taken back takes longer, such as opening a file on a disk
	// that does not answer.
	endPatience = 5 * time.Second
	// endAgain is how long after the first signal a second one means the same:
	// npm, systemd and others pass on, or repeat as another signal, what the
	// terminal has sent to everybody already. A third, or a later one, ends the
	// process there and then.
	endAgain = 250 * time.Millisecond
	// endReaping is how long a command may take to end once its child processes
	// are killed.
	endReaping = 500 * time.Millisecond
)

// endSignals are the ones that tell mcpctl to end and to leave no process
// behind, but for SIGHUP, see hangups. Servers are in process groups of their
// own, so a terminal that is closed reaches mcpctl alone.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// supervise returns run's exit code. When ctx is done and run has not ended after
// endPatience, or hurryAfter where it is a command that serves until it is told
// to end, or at a further signal (see endAgain), its child processes are killed.
// Where even that does not end it, it is left behind, for the process to end with
// it. Signals has all of them, the one that has ended ctx first.
func (a *app) supervise(ctx context.Context, signals <-chan os.Signal, run func() int) int {
	ended := make(chan int, 1)
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	told := time.Now()
	patience := time.NewTimer(endPatience)
	if a.lasting.Load() {
		patience.Reset(hurryAfter)
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
			waiting = early <= 2 && time.Since(told) <= endAgain
		}
	}
	a.hurryUp()
	patience.Reset(endReaping)
	select {
	case code := <-ended:
		return code
	case <-patience.C:
		return exitInterrupted
	}
}

// hurryUp tells everything that is being ended that there is no time left.
func (a *app) hurryUp() {
	if a.hurry != nil {
		a.hurrying.Do(func() { close(a.hurry) })
	}
}
