//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// tree is the child's process group.
type tree struct{ pgid int }

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func adopt(cmd *exec.Cmd) (tree, error) { return tree{cmd.Process.Pid}, nil }

// terminate asks every process of the group to end; false: there is none.
func (t tree) terminate() bool { return syscall.Kill(-t.pgid, syscall.SIGTERM) == nil }

func (t tree) alive() bool { return syscall.Kill(-t.pgid, 0) == nil }

func (t tree) kill() { _ = syscall.Kill(-t.pgid, syscall.SIGKILL) }
