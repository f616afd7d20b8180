//go:build unix

package proc

import (
	"os"
	"syscall"
)

// process is a process that belongs to a child of ours.
type process struct {
	pid, group int
	started    uint64 // see tree
}

// lives tells whether it is still the same, and more than a status to be waited
// for.
func (p process) lives() bool {
	now, ok := find(p.pid)
	return ok && now.started == p.started
}

// signal signals the one process. The handle is opened first (Linux: a pidfd)
// and is then that of the one that is looked at, so another one with the same
// number cannot be hit.
func (p process) signal(sig syscall.Signal) {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if p.lives() {
		_ = handle.Signal(sig) // gone meanwhile: as it should be
	}
}
