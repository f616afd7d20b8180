package transport

import (
	"io"
	"log/slog"

	"github.com/mcpctl/mcpctl/runtime/internal/proc"
)

// Guard sees to it that the processes of stdio servers, and what they have
// started, do not outlive this process, however that ends: also by SIGKILL. Any
// number of servers share one.
//
// On Linux and macOS that is the work of a guardian, a process that is started
// with the first server. On Windows it is that of a job object. Servers find a
// variable MCPCTL_GUARD in their environment, see docs/serve.md.
type Guard = proc.Guard

// GuardOptions say how the guardian is started.
type GuardOptions struct {
	// Path is the executable, absolute, and Args its arguments with the name
	// first. Run so it must call [Guardian] with its standard input, and end.
	Path string
	Args []string
	// Logger is told of a guardian that cannot be started or has ended before
	// its time; nil discards.
	Logger *slog.Logger
}

// GuardianVariable is set in a guardian's environment. A program that finds it
// must not make a Guard.
const GuardianVariable = proc.GuardianVariable

// NewGuard makes a guard. Its Close is called when all servers have been closed.
func NewGuard(o GuardOptions) *Guard {
	return proc.NewGuard(proc.GuardOptions{Path: o.Path, Args: o.Args, Logger: o.Logger})
}

// Guardian is the life of a guardian: it returns when there is nothing left to
// watch.
func Guardian(pipe io.Reader) { proc.Guardian(pipe) }
