//go:build unix

package proctree

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Child is a process that this one has started.
type Child struct{ PID int }

// Start starts a command with three streams. Package os would take a handle for it, for
// which it starts another process first to see whether the system has such: that takes
// as long as the start. A child's number is safe until it is waited for.
func Start(cmd *exec.Cmd, streams [3]*os.File) (Child, error) {
	if cmd.Err != nil {
		return Child{}, cmd.Err
	}
	files := make([]uintptr, len(streams))
	for i, f := range streams {
		files[i] = f.Fd() // which makes it blocking, as children expect
	}
	pid, _, err := syscall.StartProcess(cmd.Path, cmd.Args, &syscall.ProcAttr{Dir: cmd.Dir, Env: cmd.Environ(), Files: files, Sys: cmd.SysProcAttr})
	if err != nil {
		return Child{}, &os.PathError{Op: "fork/exec", Path: cmd.Path, Err: err}
	}
	return Child{pid}, nil
}

// Kill ends it.
func (c Child) Kill() { _ = syscall.Kill(c.PID, syscall.SIGKILL) }

// Wait waits for its end and returns how it has ended.
func (c Child) Wait() syscall.WaitStatus {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(c.PID, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}
