package transport

import (
	"io"
	"log/slog"

	"github.com/mcpctl/mcpctl/runtime/internal/guardian"
)

// Guard ends the processes of stdio servers, and what they have started, with
// this process, however that ends: also by SIGKILL. Any number of servers share
// one.
//
// On Linux and macOS that is the work of a guardian, a process that is started
// with the first server. On Windows it is that of a job object. Servers find a
// variable MCPCTL_GUARD in their environment, see docs/serve.md.
type Guard = guardian.Guard

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
const GuardianVariable = guardian.Variable

// NewGuard returns a guard. Its Close is called when all servers have been closed.
func NewGuard(o GuardOptions) *Guard {
	return guardian.New(guardian.Options{Path: o.Path, Args: o.Args, Logger: o.Logger})
}

// Guardian is the life of a guardian: it returns when there is nothing left to
// watch.
func Guardian(pipe io.Reader) { guardian.Run(pipe) }
