//go:build unix

package proc

import (
	"os"
	"syscall"
)

// kin is a process that belongs to a child of ours.
type kin struct {
	pid, group int
	started    uint64 // see tree
}

// lives tells whether it is still the same, and more than a status to be waited
// for.
func (k kin) lives() bool {
	now, ok := find(k.pid)
	return ok && now.started == k.started
}

// signal signals the one process. The handle is opened first (Linux: a pidfd)
// and is then that of the one that is looked at, so another one with the same
// number cannot be hit.
func (k kin) signal(sig syscall.Signal) {
	p, err := os.FindProcess(k.pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if k.lives() {
		_ = p.Signal(sig) // gone meanwhile: as it should be
	}
}
