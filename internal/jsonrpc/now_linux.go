//go:build linux && !race

package jsonrpc

import (
	"syscall"
	"unsafe"
)

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
