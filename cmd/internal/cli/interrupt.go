package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// endPatience is how long a command that does one thing may take to end
	// once it is told to: its server has callGrace and callShutdown, so only
	// what cannot be taken back takes longer, such as opening a file on a disk
	// that does not answer.
	endPatience = 5 * time.Second
	// endAgain is how long after the first signal another one is the same
	// wish, uttered twice; later it ends the process there and then.
	endAgain = time.Second
)

// endSignals are the ones that tell mcpctl to end and to leave no process
// behind. Servers are in process groups of their own, so a terminal that is
// closed (SIGHUP) reaches mcpctl alone. Under nohup it goes on.
func endSignals() []os.Signal {
	s := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}

// supervise gives run's exit code. When ctx is done and run does not end, it
// is left behind, for the process to end with it: after endPatience, unless
// the command serves until it is told to end and has its own bound; or at a
// further signal that comes later than endAgain.
func (a *app) supervise(ctx context.Context, signals <-chan os.Signal, run func() int) int {
	ended := make(chan int, 1)
	go func() { ended <- run() }()
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	told := time.Now()
	var patience <-chan time.Time
	if !a.lasting.Load() {
		timer := time.NewTimer(endPatience)
		defer timer.Stop()
		patience = timer.C
	}
	for {
		select {
		case code := <-ended:
			return code
		case <-patience:
			return exitInterrupted
		case <-signals:
			if time.Since(told) > endAgain {
				return exitInterrupted
			}
		}
	}
}
