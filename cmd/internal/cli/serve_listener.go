package cli

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxConnections bounds the connections of clients over HTTP: each is a file
// descriptor, and servers need some as well.
const maxConnections = 16_384

// tooManyConnections answers connections beyond the bound.
const tooManyConnections = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 1\r\nConnection: close\r\n\r\ntoo many connections: try again later\n"

// listener bounds the connections of the wrapped one.
type listener struct {
	net.Listener
	most int64
	open atomic.Int64
}

// Accept implements [net.Listener]. It answers and closes connections beyond the
// bound.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &counted{Conn: c, l: l}, nil
		}
		l.open.Add(-1)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // usually the socket's buffer has room
		_, _ = c.Write([]byte(tooManyConnections))
		_ = c.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	l    *listener
	once sync.Once
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.once.Do(func() { c.l.open.Add(-1) })
	return c.Conn.Close()
}
