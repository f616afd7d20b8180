package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// Response is what came for a request.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Message returns the last message: the body, or the last event of a stream.
func (r Response) Message() string {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		return strings.TrimSpace(r.Body)
	}
	return LastEvent(r.Body)
}

// RawPost writes a POST with the headers given, each a whole line without its end,
// and no others but Content-Length, which no line of that name replaces.
func RawPost(path, body string, headers ...string) string {
	return RawHead("POST", path, append(headers, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
}

// RawHead writes the head of a request with the headers given and no others.
func RawHead(method, path string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n"
}

// Dial connects to the host of a URL.
func Dial(to string) (net.Conn, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	return net.DialTimeout("tcp", u.Host, Limit)
}

// RawExchange sends bytes to the host of a URL over a connection of their own, and
// reads the response to its end: that of the body, of the connection, or, with
// quiet, so long after the header.
func RawExchange(to, request string, quiet time.Duration) (Response, error) {
	c, err := Dial(to)
	if err != nil {
		return Response{}, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(Limit))
	// What is refused before it is read may not be taken whole.
	go func() { _, _ = io.WriteString(c, request) }()
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return Response{}, err
	}
	if quiet > 0 {
		_ = c.SetReadDeadline(time.Now().Add(quiet))
	}
	r, err := Read(res)
	if quiet > 0 && errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNRESET) {
		err = nil // the latter, where it has not read all that it refuses
	}
	return r, err
}
