package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// bufferSize is how much is read at once, with a byte for watch. It bounds a usual
// head: one that is larger is for net/http.
const bufferSize = 4 << 10

// few is how many bytes after a request net/http waits for before it takes them for
// another. It drops line ends among them (RFC 7230, 3.5).
const few = 4

// conn is a connection as long as its requests are usual. Its goroutine reads,
// calls the handler and writes.
type conn struct {
	s      *Server
	rwc    net.Conn
	base   http.Request // what all requests have in common
	head   head
	header http.Header // of the answer, for the handler

	buf     []byte
	r, w    int  // buf[r:w] was read, and is not used yet
	served  bool // a request was answered
	dropped int  // line ends after it

	mu    sync.Mutex // guards what follows
	state state
}

func newConn(s *Server, rwc net.Conn) *conn {
	c := &conn{s: s, rwc: rwc, header: http.Header{}, buf: make([]byte, bufferSize), state: state{count: 1}}
	ctx := context.WithValue(context.Background(), http.ServerContextKey, s.rest)
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, rwc.LocalAddr())
	c.base = *(&http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: rwc.RemoteAddr().String(),
	}).WithContext(ctx)
	return c
}

// run serves the connection until it ends, or until net/http has taken it from q.
func (c *conn) run(q *queue) {
	handed := false
	defer func() {
		if why := recover(); why != nil && why != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			c.s.logf("http: panic serving %v: %v\n%s", c.base.RemoteAddr, why, debug.Stack())
		}
		if !handed {
			c.close()
		}
		c.s.remove(c)
	}()
	c.s.wake()
	for {
		switch c.next() {
		case usual:
			if c.serve() {
				continue
			}
		case other:
			c.enter(leaving)
			handed = q.put(accepted{c: &continued{c.rwc, c.buf[c.r:c.w]}})
		case part: // the client has gone, or has not gone on
		}
		return
	}
}

// next reads the next head.
func (c *conn) next() shape {
	for {
		for ; c.served && c.dropped < few && c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n'); c.dropped++ {
			c.r++
		}
		size, kind := c.head.read(c.buf[c.r:c.w])
		tooFew := c.served && c.dropped+c.w-c.r < few
		if kind == usual || kind == other && !tooFew {
			c.r += size
			return kind
		}
		c.r, c.w = 0, copy(c.buf, c.buf[c.r:c.w])
		switch {
		case c.w >= bufferSize-1:
			return other
		case c.w > 0:
			c.enter(arriving)
		case c.s.closing.Load():
			return part
		}
		n, err := c.rwc.Read(c.buf[c.w : bufferSize-1])
		c.w += n
		switch {
		case n > 0: // an error comes again
		case errors.Is(err, io.EOF) && c.w > 0 && !tooFew:
			return other // net/http answers half a head
		case err != nil:
			return part
		}
	}
}

// serve answers the request whose head was read. It reports whether there can be
// another one on the connection.
func (c *conn) serve() (again bool) {
	ctx, cancel := context.WithCancel(c.base.Context())
	defer cancel()
	x := &exchange{c: c, cancel: cancel, length: unknown}
	x.body = body{x: x, left: c.head.length}
	r := c.base.WithContext(ctx)
	r.URL, r.RequestURI, r.Host, r.Header, r.ContentLength, r.Body = c.head.url, c.head.target, c.head.host, c.head.header, c.head.length, &x.body
	if c.head.length == 0 {
		r.Body = http.NoBody
	}
	waits := serving
	if c.head.length > int64(c.w-c.r) {
		waits = receiving
	}
	c.begin(waits, cancel)
	c.s.handler().ServeHTTP(x, r)
	cancel()
	x.drain()
	c.finish(x)
	if !x.end() {
		c.linger(x)
		return false
	}
	clear(c.header)
	c.served, c.dropped = true, 0
	c.enter(idle)
	return true
}

// linger lets a client that still sends read the answer: it would be lost if the
// connection were closed with something unread.
func (c *conn) linger(x *exchange) {
	if x.body.left == 0 {
		return
	}
	if half, ok := c.rwc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	c.enter(lingering)
	end := time.Now().Add(lingerTime)
	for {
		next := time.Now().Add(lingerSilence)
		if next.After(end) {
			next = end
		}
		_ = c.rwc.SetReadDeadline(next) // it may be closed
		if _, err := c.rwc.Read(c.buf); err != nil {
			return
		}
	}
}

func (c *conn) close() { _ = c.rwc.Close() }
