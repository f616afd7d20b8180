//go:build unix

package guardian

import "golang.org/x/sys/unix"

// inherited reports whether a descriptor has come through exec: whatever Go
// opens is closed there.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
