package jsonrpc

import "golang.org/x/sys/unix"

// pipeSize is how much a pipe to a client should hold: a page of a list in one
// piece. With the 64 KiB that Linux gives one (pipe(7)) the client has to be woken
// to make room for the rest.
const pipeSize = 256 << 10

// widen has a pipe hold pipeSize, where it holds less and the system allows it:
// a user's pipes together have a bound.
func widen(fd int) {
	if n, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && n < pipeSize {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) // it works as it is
	}
}
