//go:build unix

package http1client

import "syscall"

// canPeek reports whether an idle connection can be asked without waiting.
const canPeek = true

// quiet reports whether an idle connection is open and nothing has come that nobody
// asked for, which would be taken for the next response.
func (x *conn) quiet() bool {
	if x.raw == nil {
		return false
	}
	return x.raw.Read(x.peek) == nil && x.peeked == syscall.EAGAIN //nolint:errorlint // as the system returns it
}

// look tries to read. Whatever comes, the connection is not used again.
func (x *conn) look(fd uintptr) bool {
	x.peeked = syscall.EINTR
	for x.peeked == syscall.EINTR { //nolint:errorlint // as the system returns it
		_, x.peeked = syscall.Read(int(fd), x.one[:])
	}
	return true
}
