//go:build unix

package demo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// apart starts a command in a process group of its own.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt does to the command's group what Ctrl+C would.
func interrupt(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGINT); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	} else if err != nil {
		return p.Kill()
	}
	return nil
}
