package proctree

import (
	"os"
	"os/exec"
)

// Child is a process that this one has started.
type Child struct {
	PID int
	cmd *exec.Cmd
}

// Start starts a command with three streams.
func Start(cmd *exec.Cmd, streams [3]*os.File) (Child, error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams[0], streams[1], streams[2]
	if err := cmd.Start(); err != nil {
		return Child{}, err
	}
	return Child{cmd.Process.Pid, cmd}, nil
}

// Kill ends it.
func (c Child) Kill() { _ = c.cmd.Process.Kill() }

// Wait waits for its end and returns how it has ended.
func (c Child) Wait() string {
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.String()
}
