package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

const (
	// unknown is the length of an answer for which the handler has said none.
	unknown = -1
	// spill is the size from which on an answer is sent before the handler has ended,
	// in bytes.
	spill = 16 << 10
	// maxDrained bounds what is read of a body that the handler has left, so that the
	// connection can go on.
	maxDrained = 256 << 10
)

var errOver = errors.New("the handler of the request has returned")

var buffers = sync.Pool{New: func() any { //nolint:gochecknoglobals // a pool of scratch space
	b := make([]byte, 0, bufferSize)
	return &b
}}

// release puts a buffer back, unless it has grown too large.
func release(b *[]byte) {
	if b != nil && cap(*b) <= 2*spill {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// exchange is one request and its answer: the handler's http.ResponseWriter. It is
// never used again, so that what a handler keeps of it does no harm.
type exchange struct {
	c      *conn
	cancel context.CancelFunc // of the request
	body   body
	over   atomic.Bool // the handler has returned

	status  int   // 0 before WriteHeader
	length  int64 // of the body by Content-Length, or unknown
	written int64 // of the body
	typed   bool  // there is a Content-Type, or must be none
	dated   bool
	begun   bool // the head is whole
	chunked bool
	last    bool  // no other request can follow
	err     error // of the connection

	out  *[]byte // to be sent: the head, and what follows it
	held *[]byte // the body as long as the head is not whole
}

// Header implements [http.ResponseWriter].
func (x *exchange) Header() http.Header {
	if x.over.Load() {
		return http.Header{}
	}
	return x.c.header
}

// WriteHeader implements [http.ResponseWriter]. There are no informational responses:
// a status below 200 does nothing.
func (x *exchange) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("http: invalid status %d", status))
	}
	if x.over.Load() || x.status != 0 || status < http.StatusOK {
		return
	}
	x.writeStatus(status)
}

// writeStatus begins the head, with what the header has now.
func (x *exchange) writeStatus(status int) {
	x.status = status
	x.out, _ = buffers.Get().(*[]byte)
	b := append(*x.out, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	for name, values := range x.c.header {
		switch name {
		case "Content-Length":
			x.length = lengthOf(values)
			continue
		case "Connection":
			x.last = x.last || len(values) > 0 && strings.EqualFold(values[0], "close")
			continue
		case "Transfer-Encoding", "Trailer":
			continue // how the body is sent is decided here
		case "Content-Type", "Content-Encoding":
			x.typed = true
		case "Date":
			x.dated = true
		}
		if !httpsyntax.IsToken(name) {
			continue
		}
		for _, v := range values {
			b = append(b, name...)
			b = append(b, ": "...)
			b = append(b, oneLine(v)...)
			b = append(b, "\r\n"...)
		}
	}
	*x.out = b
}

// oneLine returns a value that can end no header line.
func oneLine(v string) string {
	if strings.ContainsAny(v, "\r\n\x00") {
		v = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(v)
	}
	return v
}

// lengthOf returns the Content-Length that a handler has set.
func lengthOf(values []string) int64 {
	if len(values) != 1 || !isLength(values[0]) {
		return unknown
	}
	n, _ := strconv.ParseInt(values[0], 10, 64) // digits, and few
	return n
}

// hasBody reports whether answers of the status have a body (RFC 9110, 6.4.1).
func (x *exchange) hasBody() bool {
	return x.status != http.StatusNoContent && x.status != http.StatusNotModified
}

// Write implements [http.ResponseWriter].
func (x *exchange) Write(p []byte) (int, error) {
	if x.over.Load() {
		return 0, errOver
	}
	if x.status == 0 {
		x.writeStatus(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case !x.hasBody():
		return 0, http.ErrBodyNotAllowed
	}
	x.written += int64(len(p))
	if x.length != unknown && x.written > x.length {
		return 0, http.ErrContentLength
	}
	if !x.begun && x.length == unknown {
		if x.held == nil {
			x.held, _ = buffers.Get().(*[]byte)
		}
		if len(*x.held)+len(p) <= spill {
			*x.held = append(*x.held, p...)
			return len(p), nil
		}
	}
	x.begin(p, false)
	x.add(p)
	return len(p), x.err
}

// FlushError sends what has been written; see [http.ResponseController].
func (x *exchange) FlushError() error {
	if x.over.Load() {
		return errOver
	}
	if x.status == 0 {
		x.writeStatus(http.StatusOK)
	}
	x.begin(nil, false)
	x.send()
	return x.err
}

// Flush implements [http.Flusher].
func (x *exchange) Flush() { _ = x.FlushError() } // an error comes again with the next write

// begin completes the head, before the first part of the body, which follows what is
// held. whole says that nothing follows it.
func (x *exchange) begin(first []byte, whole bool) {
	if x.begun {
		return
	}
	x.begun = true
	x.drain()
	var held []byte
	if x.held != nil {
		held = *x.held
	}
	if whole && x.length == unknown {
		x.length = int64(len(held))
	}
	if len(held) > 0 {
		first = held
	}
	b := *x.out
	if x.hasBody() {
		if !x.typed && len(first) > 0 {
			b = append(b, "Content-Type: "...)
			b = append(b, http.DetectContentType(first)...)
			b = append(b, "\r\n"...)
		}
		if x.chunked = x.length == unknown; x.chunked {
			b = append(b, "Transfer-Encoding: chunked\r\n"...)
		} else {
			b = append(b, "Content-Length: "...)
			b = strconv.AppendInt(b, x.length, 10)
			b = append(b, "\r\n"...)
		}
	}
	if x.last = x.last || x.c.s.closing.Load(); x.last {
		b = append(b, "Connection: close\r\n"...)
	}
	if !x.dated {
		b = append(b, "Date: "...)
		b = x.c.s.date.append(b, time.Now())
		b = append(b, "\r\n"...)
	}
	*x.out = append(b, "\r\n"...)
	if len(held) > 0 {
		x.add(held)
	}
}

// add adds a part of the body to the output.
func (x *exchange) add(p []byte) {
	if x.chunked {
		b := strconv.AppendInt(*x.out, int64(len(p)), 16)
		*x.out = append(b, "\r\n"...)
		defer func() { *x.out = append(*x.out, "\r\n"...) }()
	}
	if len(*x.out)+len(p) > spill { // the rest is not copied
		now := min(len(p), max(spill-len(*x.out), 0))
		*x.out = append(*x.out, p[:now]...)
		x.send()
		if p = p[now:]; len(p) > spill {
			x.write(p)
			return
		}
	}
	*x.out = append(*x.out, p...)
}

// send sends the output.
func (x *exchange) send() {
	if len(*x.out) > 0 {
		x.write(*x.out)
		*x.out = (*x.out)[:0]
	}
}

func (x *exchange) write(b []byte) {
	if x.err == nil {
		if _, x.err = x.c.rwc.Write(b); x.err != nil {
			x.cancel() // the client has gone
		}
	}
}

// end sends the rest of the answer, after the handler. It reports whether another
// request can follow.
func (x *exchange) end() (again bool) {
	if x.status == 0 {
		x.writeStatus(http.StatusOK)
	}
	x.begin(nil, true)
	if x.chunked {
		*x.out = append(*x.out, "0\r\n\r\n"...)
	}
	x.send()
	release(x.out)
	release(x.held)
	whole := !x.hasBody() || x.chunked || x.length == x.written
	return whole && !x.last && x.err == nil
}

// SetReadDeadline bounds reading the body; see [http.ResponseController].
func (x *exchange) SetReadDeadline(t time.Time) error {
	return x.own(&x.c.state.ownRead, x.c.rwc.SetReadDeadline, t)
}

// SetWriteDeadline bounds writes; see [http.ResponseController].
func (x *exchange) SetWriteDeadline(t time.Time) error {
	return x.own(&x.c.state.ownWrite, x.c.rwc.SetWriteDeadline, t)
}

// own sets a deadline for the handler, which lasts until that returns.
func (x *exchange) own(noted *bool, set func(time.Time) error, t time.Time) error {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.over.Load() {
		return errOver
	}
	*noted = true
	return set(t)
}

// drain reads what the handler has left of the body, if that is little. Else the
// connection ends with the answer.
func (x *exchange) drain() {
	if x.body.left == 0 || x.last {
		return
	}
	if x.body.left <= maxDrained {
		_, _ = io.Copy(io.Discard, &rest{&x.body}) // what is left tells
	}
	x.last = x.body.left > 0
}

// body is the body of a request.
type body struct {
	x      *exchange
	left   int64
	closed bool
}

// rest reads a body that the handler may have closed.
type rest struct{ b *body }

func (r *rest) Read(p []byte) (int, error) { return r.b.read(p) }

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.closed || b.x.over.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(p)
}

func (b *body) read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	c := b.x.c
	p = p[:min(int64(len(p)), b.left)]
	if c.r < c.w {
		n = copy(p, c.buf[c.r:c.w])
		c.r += n
		b.left -= int64(n)
	} else {
		n, err = c.rwc.Read(p)
		if b.left -= int64(n); b.left == 0 {
			c.r, c.w = 0, 0
			c.enter(serving)
		}
	}
	switch {
	case b.left == 0:
		return n, io.EOF
	case errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	b.closed = true
	return nil
}
