package jsonrpc

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// largePipe is how much a pipe holds once a large message has gone through it, a
// page of a list or a file: several of them. With the 64 KiB that Linux gives one
// (pipe(7)) both sides have to be woken in turn for each part. It is not more, and
// not for all pipes, because a user's pipes together have a bound.
const largePipe = 512 << 10

// widen has a pipe hold largePipe, where it holds less and the system allows it.
func widen(fd uintptr) {
	if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < largePipe {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, largePipe) // it works as it is
	}
}

// readNow is read(2) on a descriptor that does not block.
//
// The scheduler is not told of this call, nor of that of writeNow. Told of one,
// its monitor wakes and looks every 20 µs or so whether the call blocks: a third
// of the CPU time of a proxy.
func readNow(fd uintptr, p []byte) (int, error) {
	return now(syscall.SYS_READ, fd, p)
}

// writeNow is write(2) on a descriptor that does not block.
func writeNow(fd uintptr, p []byte) (int, error) {
	return now(syscall.SYS_WRITE, fd, p)
}

func now(call, fd uintptr, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p))) //nolint:gosec // as the kernel takes it; p is kept meanwhile
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
