//go:build !unix

package http1client

// supported reports whether connections can be used here. Without that, net/http sends
// all requests.
const supported = false

type trade struct{}

func (x *conn) prepare() error { return nil }

func (x *conn) send(out []byte, n *Note) error { return x.sendSlowly(out, n) }
