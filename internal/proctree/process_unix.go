//go:build unix

package proctree

import (
	"os"
	"os/exec"
	"syscall"
)

// Process is a process of a tree.
type Process struct {
	PID, Group int
	Started    uint64 // see Tree
}

// Lives reports whether it is still the same, and more than a status to be
// waited for.
func (p Process) Lives() bool {
	now, ok := Find(p.PID)
	return ok && now.Started == p.Started
}

// Signal signals the one process. The handle is opened first (Linux: a pidfd)
// and is then that of the one that is looked at, so another one with the same
// number cannot be hit.
func (p Process) Signal(sig syscall.Signal) {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if p.Lives() {
		_ = handle.Signal(sig) // gone meanwhile: as it should be
	}
}

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

// Prepare has the child begin a group of its own; without a terminal, in a session of
// its own.
func Prepare(cmd *exec.Cmd, noTerminal bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if noTerminal { // a session has a group of its own
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
}

// Adopt returns the tree of a child that has been started and not waited for.
func Adopt(c Child, mark string) (Tree, error) {
	return Tree{c.PID, StartOf(c.PID), mark}, nil
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
	in := func(group int) bool { return group == t.Group }
	if t.deserted(in, carries) {
		return nil, true
	}
	return Look(in, carries, t.Started)
}

// Release does nothing: a group needs no handle.
func (t Tree) Release() {}
