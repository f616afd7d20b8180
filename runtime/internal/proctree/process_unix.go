//go:build unix

package proctree

import (
	"os"
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
