package jsonrpc

import "golang.org/x/sys/unix"

// largePipe is how much a pipe holds once a large message has gone through it, a
// page of a list or a file: several of them. With the 64 KiB that Linux gives one
// (pipe(7)) both sides have to be woken in turn for each part. It is not more, and
// not for all pipes, because a user's pipes together have a bound.
const largePipe = 512 << 10

// widen raises the capacity of a pipe to largePipe, where it is less and the system allows it.
func widen(fd uintptr) {
	if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < largePipe {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, largePipe) // it works as it is
	}
}
