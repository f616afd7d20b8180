//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, which is told to end when
// its context does.
func group(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	return cmd
}

// killGroup ends what is left of the group of a command that has ended.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // none left is as it should be
}
