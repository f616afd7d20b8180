package http1client

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

// maxBody bounds the bodies that the client writes before it reads, in bytes: a server
// that answers first, and reads nothing more, must not keep it from the answer. The
// buffers of a connection take as much.
const maxBody = 64 << 10

// Body is the body of a request, which the client writes in one piece with the head.
type Body struct {
	text []byte
	read int
}

var _ io.ReadCloser = (*Body)(nil)

// NewBody returns a body with a text, which must not change.
func NewBody(text []byte) *Body { return &Body{text: text} }

// again returns the body as it was at first.
func (b *Body) again() (io.ReadCloser, error) { return NewBody(b.text), nil }

// Read implements [io.Reader].
func (b *Body) Read(p []byte) (int, error) {
	if b.read == len(b.text) {
		return 0, io.EOF
	}
	n := copy(p, b.text[b.read:])
	b.read += n
	return n, nil
}

// Close implements [io.Closer].
func (b *Body) Close() error { return nil }

// outbox holds the memory of requests.
//
//nolint:gochecknoglobals // memory that all clients use again
var outbox = sync.Pool{New: func() any { return new([]byte) }}

func recycle(buf *[]byte) { outbox.Put(buf) }

// appendRequest appends a request as it is sent. False: net/http is to send it, or to
// say what is wrong with it.
func appendRequest(b []byte, req *http.Request) (_ []byte, ok bool) {
	var text []byte
	switch body := req.Body.(type) {
	case nil:
	case *Body:
		text = body.text
	default:
		return b, false
	}
	switch req.Method {
	case http.MethodGet, http.MethodPost, http.MethodDelete:
	default:
		return b, false
	}
	if int64(len(text)) != req.ContentLength || len(text) > maxBody || req.Close || req.TransferEncoding != nil || req.Trailer != nil {
		return b, false
	}
	target, host := req.URL.RequestURI(), req.Host
	if host == "" {
		host = req.URL.Host
	}
	if target[0] != '/' || !isVisible(target) || !isPlainHost(host) {
		return b, false
	}
	b = append(append(append(b, req.Method...), ' '), target...)
	b = append(append(append(b, " HTTP/1.1\r\nHost: "...), host...), "\r\n"...)
	for name, values := range req.Header {
		if !httpsyntax.IsToken(name) || frames(name) {
			return b, false
		}
		for _, v := range values {
			if !httpsyntax.IsValue(v) || v == "" {
				return b, false
			}
			b = append(append(append(append(b, name...), ": "...), v...), "\r\n"...)
		}
	}
	if text != nil || req.Method == http.MethodPost {
		b = strconv.AppendInt(append(b, "Content-Length: "...), req.ContentLength, 10)
		b = append(b, "\r\n"...)
	}
	return append(append(b, "\r\n"...), text...), true
}

// isVisible reports whether a text has neither spaces nor control characters.
func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// frames reports whether a field says where a message ends or what becomes of its
// connection.
func frames(name string) bool {
	for _, f := range [...]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Te", "Expect", "Upgrade"} {
		if len(f) == len(name) && strings.EqualFold(f, name) {
			return true
		}
	}
	return false
}
