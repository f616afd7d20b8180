//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// gentle tells whether there is a way to ask processes to end.
const gentle = true

// tree is the child's process group, and what carries its mark.
type tree struct {
	pgid int
	// started is when the leader was, in the system's own unit: with the number
	// it tells the leader from any other process. 0: not known.
	started uint64
	mark    string // "": none
}

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func adopt(cmd *exec.Cmd, mark string) (tree, error) {
	// The child is there until it is waited for.
	return tree{cmd.Process.Pid, startOf(cmd.Process.Pid), mark}, nil
}

// signal signals the group. It is the child's as long as the child has not been
// waited for, see the package comment. A group that is gone needs no signal.
func (t tree) signal(sig syscall.Signal) { _ = syscall.Kill(-t.pgid, sig) }

// look gives the living processes of the tree; false: the system does not tell.
func (t tree) look() ([]process, bool) {
	var carries func(string) bool
	if t.mark != "" {
		carries = func(value string) bool { return marked(value, t.mark) }
	}
	return look(func(group int) bool { return group == t.pgid }, carries, t.started)
}

func (t tree) release() {}
