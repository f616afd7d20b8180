package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

const stopTimeout = 5 * time.Second // from SIGTERM to SIGKILL

// process is a server that was started for a row of the table.
type process struct {
	*wire.Process
	closed func() // ends what is in front of it; nil for nothing
}

// start runs a program until stop, in a process group of its own, and waits
// for a line of its output that begins with ready: the rest is its URL. All
// output goes to log as well.
func start(ctx context.Context, log io.Writer, ready string, env []string, program string, args ...string) (*process, error) {
	cmd := group(exec.CommandContext(ctx, program, args...))
	cmd.Env = append(os.Environ(), env...)
	p, err := wire.Launch(cmd, ready, log)
	return &process{Process: p}, err
}

// Stop ends the process and all that it has started.
func (p *process) Stop() {
	p.Process.Stop(stopTimeout)
	killGroup(p.Cmd)
	if p.closed != nil {
		p.closed()
	}
}
