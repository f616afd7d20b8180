//go:build !unix

package http1client

// canPeek reports whether an idle connection can be asked without waiting. Without
// that, net/http sends all requests.
const canPeek = false

func (x *conn) quiet() bool { return false }

func (x *conn) look(uintptr) bool { return true }
