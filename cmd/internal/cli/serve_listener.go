package cli

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxConnections bounds the connections of clients over HTTP: each is a file,
// and servers need files, too.
const maxConnections = 16_384

// crowded is what a connection beyond the bound gets, in place of silence.
const crowded = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 1\r\nConnection: close\r\n\r\ntoo many connections: try again later\n"

// listener bounds the connections of one that it wraps.
type listener struct {
	net.Listener
	most int64
	open atomic.Int64
}

// Accept implements [net.Listener]. A connection beyond the bound is answered
// and closed here.
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
		_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // it has room for as much; if not, the client sees the end alone
		_, _ = c.Write([]byte(crowded))
		_ = c.Close()
	}
}

// counted is a connection that counts until it is closed.
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
