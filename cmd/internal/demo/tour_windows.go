package demo

import (
	"os"
	"os/exec"
	"syscall"
)

// apart keeps Ctrl+C, which goes to all of a console, away from a command.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt ends a command; its servers are in a job that ends with it.
func interrupt(p *os.Process) error { return p.Kill() }
