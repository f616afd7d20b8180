//go:build unix

package proctree

import (
	"os/exec"
	"syscall"
)

// Gentle reports whether there is a way to ask processes to end.
const Gentle = true

// Tree is a child's process group, and what carries its mark.
type Tree struct {
	Group int
	// Started is when the leader was, in the system's own unit: with the number
	// it tells the leader from any other process. 0: not known.
	Started uint64
	Mark    string // "": none
}

// Prepare has the child begin a group of its own.
func Prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// Adopt returns the tree of a child that has been started and not waited for.
func Adopt(cmd *exec.Cmd, mark string) (Tree, error) {
	return Tree{cmd.Process.Pid, StartOf(cmd.Process.Pid), mark}, nil
}

// Signal signals the group. It is the child's as long as the child has not been
// waited for, see package proc. A group that is gone needs no signal.
func (t Tree) Signal(sig syscall.Signal) { _ = syscall.Kill(-t.Group, sig) }

// Look returns the living processes of the tree; false: the system does not tell.
func (t Tree) Look() ([]Process, bool) {
	var carries func(string) bool
	if t.Mark != "" {
		carries = func(value string) bool { return HasMark(value, t.Mark) }
	}
	return Look(func(group int) bool { return group == t.Group }, carries, t.Started)
}

// Release does nothing: a group needs no handle.
func (t Tree) Release() {}
