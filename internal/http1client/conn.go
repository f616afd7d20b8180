package http1client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
)

const (
	bufferSize = 4 << 10
	// maxHead bounds a head, and maxLine the first line of a chunk and each trailer, in
	// bytes. Beyond, the response is an error.
	maxHead = 1 << 20
	maxLine = 4 << 10
	// maxInterim bounds the responses of 1xx before the response.
	maxInterim = 5
)

// The errors of responses quote nothing of them: a server may repeat credentials, which
// are not known any more where a quotation is cut.
var (
	errNotHTTP  = errors.New("malformed HTTP response: it does not begin with the version and a status")
	errLineEnd  = errors.New("malformed HTTP response: a line does not end in CRLF")
	errTooLarge = errors.New("malformed HTTP response: its header is too large")
	errField    = errors.New("malformed HTTP response: a header line is not a name and a value")
	errCoding   = errors.New("malformed HTTP response: unsupported Transfer-Encoding")
	errLength   = errors.New("malformed HTTP response: more than one Content-Length, or a malformed one")
	errChunk    = errors.New("malformed HTTP response: a chunk does not have its size")
	errSwitch   = errors.New("malformed HTTP response: it switches to a protocol that nobody asked for")
	errInterims = errors.New("malformed HTTP response: too many responses of 1xx before it")
)

// conn is one connection. One goroutine at a time uses it; others may end its
// waiting, or close it.
type conn struct {
	host      *host
	nc        net.Conn
	idleSince uint64 // see Client.closeOld
	reused    bool
	trade     trade

	// Of the exchange that is under way.
	ctx   context.Context       //nolint:containedctx // that of the request
	watch deadline.Registration // ends the connection with ctx
	sent  int                   // bytes of the request that were written
	heard bool                  // bytes of the response were read
	buf   []byte                // buf[r:w] is read and not used yet
	r, w  int
}

func newConn(h *host, nc net.Conn) (*conn, error) {
	x := &conn{host: h, nc: nc}
	return x, x.prepare()
}

func (x *conn) close() { _ = x.nc.Close() }

// watcher ends the waiting for a connection when the context of its request ends; who
// waited closes it.
type watcher conn

func (x *watcher) Tell() { _ = x.nc.SetDeadline(time.Unix(1, 0)) }

// exchange writes a request, which is in out as a whole, and reads the head of its
// response. After an error the connection is closed.
func (x *conn) exchange(req *http.Request, out []byte, n *Note) (*http.Response, error) {
	x.ctx, x.sent, x.heard = req.Context(), 0, false
	x.watch.Start(x.ctx, (*watcher)(x))
	err := x.send(out, n)
	if err == nil {
		var resp *http.Response
		if resp, err = x.response(req); err == nil {
			return resp, nil
		}
	}
	x.watch.Stop()
	x.close()
	if x.ctx.Err() != nil {
		err = deadline.Cause(x.ctx)
	}
	return nil, err
}

// sendSlowly writes what was not written of a request.
func (x *conn) sendSlowly(out []byte, n *Note) error {
	more, err := x.nc.Write(out[x.sent:])
	x.sent += more
	if err == nil && n.Wrote != nil {
		n.Wrote()
	}
	return err
}

// again reports whether a request that has failed may be sent on another connection,
// by the rule of net/http: the server has closed this one, which was used before, and
// either nothing was written or the request changes nothing and there is no response.
func (x *conn) again(req *http.Request) bool {
	return x.reused && !x.heard && x.ctx.Err() == nil && (x.sent == 0 || req.Method == http.MethodGet)
}

// release ends an exchange. A connection is kept if its response has ended and was the
// last thing to come.
func (x *conn) release(keep bool) {
	keep = x.watch.Stop() && keep && x.r == x.w
	x.ctx = nil
	if !keep {
		x.close()
		return
	}
	x.r, x.w = 0, 0
	if len(x.buf) > bufferSize {
		x.buf = nil
	}
	x.host.put(x)
}

// fill reads more into the buffer.
func (x *conn) fill() error {
	switch {
	case x.buf == nil:
		x.buf = make([]byte, bufferSize)
	case x.r == x.w:
		x.r, x.w = 0, 0
	case x.w == len(x.buf) && x.r > 0:
		x.w = copy(x.buf, x.buf[x.r:x.w])
		x.r = 0
	case x.w == len(x.buf):
		x.buf = append(x.buf, make([]byte, len(x.buf))...)
	}
	n, err := x.nc.Read(x.buf[x.w:])
	x.w += n
	if n > 0 {
		x.heard = true
		return nil
	}
	return err
}

// Read reads what follows the head.
func (x *conn) Read(p []byte) (int, error) {
	if x.r == x.w {
		if len(p) >= bufferSize {
			return x.nc.Read(p)
		}
		if err := x.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, x.buf[x.r:x.w])
	x.r += n
	return n, nil
}

// head reads a head, and returns it without the empty line at its end.
func (x *conn) head() (string, error) {
	for line, seen := 0, 0; ; { // offsets from x.r: of the line, and of what is new
		for {
			i := bytes.IndexByte(x.buf[x.r+seen:x.w], '\n')
			if i < 0 {
				break
			}
			end := seen + i
			if end == line || x.buf[x.r+end-1] != '\r' {
				return "", errLineEnd
			}
			if end == line+1 {
				text := string(x.buf[x.r : x.r+line])
				x.r += end + 1
				return text, nil
			}
			line, seen = end+1, end+1
		}
		seen = x.w - x.r
		if n := min(seen, len(protocol)); string(x.buf[x.r:x.r+n]) != protocol[:n] {
			return "", errNotHTTP
		}
		if seen > maxHead {
			return "", errTooLarge
		}
		if err := x.fill(); err != nil {
			return "", midway(err, x.r < x.w)
		}
	}
}

// line reads a line that ends in CRLF, and returns it without. It is valid until the
// next one is read.
func (x *conn) line() (string, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(x.buf[x.r+seen:x.w], '\n'); i >= 0 {
			line := x.buf[x.r : x.r+seen+i]
			if len(line) == 0 || line[len(line)-1] != '\r' {
				return "", errLineEnd
			}
			x.r += len(line) + 1
			return string(line[:len(line)-1]), nil
		}
		if seen = x.w - x.r; seen > maxLine {
			return "", errTooLarge
		}
		if err := x.fill(); err != nil {
			return "", midway(err, true)
		}
	}
}

// midway returns the error of a response that has begun and does not end: io.EOF is
// for what has not begun.
func midway(err error, begun bool) error {
	if begun && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// protocol is how each response begins.
const protocol = "HTTP/1."
