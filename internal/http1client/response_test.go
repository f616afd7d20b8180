package http1client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
)

// replay is a connection on which a server answers with bytes and closes it.
type replay struct {
	net.Conn // for what is not called
	r        *bytes.Reader
	max      int // bytes at once
}

func (c *replay) Read(p []byte) (int, error)  { return c.r.Read(p[:min(len(p), c.max)]) }
func (c *replay) Write(p []byte) (int, error) { return len(p), nil }
func (c *replay) Close() error                { return nil }

// outcome is what a client makes of the bytes of a server.
type outcome struct {
	Status int
	Text   string
	Header http.Header
	Body   string
	Again  bool // the connection can be used again
	Err    bool
}

// ours reads a response, in pieces of at most max bytes.
func ours(t *testing.T, raw []byte, most int) (outcome, error) {
	t.Helper()
	c := newClient(t)
	h := &host{c: c}
	c.hosts["h"] = h
	nc := &replay{r: bytes.NewReader(raw), max: most}
	x, err := newConn(h, nc)
	require.NoError(t, err)
	resp, err := x.exchange(post(t, t.Context(), "http://h/", ""), nil, new(Note))
	if err != nil {
		return outcome{Err: true}, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	// What has come meanwhile would keep it from being used: TestClosed.
	again := c.idle() == 1 && nc.r.Len() == 0
	return outcome{resp.StatusCode, resp.Status, resp.Header, string(body), again, err != nil}, err
}

// theirs reads a response as a http.Transport does.
func theirs(t *testing.T, raw []byte) outcome {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(raw))
	req := post(t, t.Context(), "http://h/", "")
	resp, err := http.ReadResponse(r, req)
	for n := 0; err == nil && resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols; n++ {
		if n == maxInterim {
			return outcome{Err: true}
		}
		resp, err = http.ReadResponse(r, req)
	}
	if err != nil {
		return outcome{Err: true}
	}
	body, err := io.ReadAll(resp.Body)
	_, more := r.Peek(1)
	return outcome{resp.StatusCode, resp.Status, resp.Header, string(body), err == nil && !resp.Close && errors.Is(more, io.EOF), err != nil}
}

// strict is what is read more strictly than by net/http, by what responses with it look
// like.
var strict = []struct{ why, like string }{
	{"a line that ends in LF alone: RFC 9112 lets a recipient take it, and others may not", `(^|[^\r])\n`},
	{"a CR or another control character inside a line", `[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]|\r$`},
	{"a line that continues the one before (obs-fold)", `\n[ \t]`},
	{"a name that is no token, such as one with a space before the colon", "(?m)^[^\r\n:]*[^!#$%&'*+\\-.^_`|~0-9A-Za-z\r\n:][^\r\n:]*:"},
	{"a line without a name", `\n:`},
	{"Content-Length twice, though it is the same", `(?i)\ncontent-length[^\n]*\n(.*\n)*content-length`},
	{"an empty Content-Length", `(?i)\ncontent-length:[ \t]*\r`},
	{"Transfer-Encoding beside Content-Length", `(?is)\ntransfer-encoding.*\ncontent-length|\ncontent-length.*\ntransfer-encoding`},
	{"Transfer-Encoding in HTTP/1.0, which net/http leaves out", `(?is)HTTP/1\.0 .*\ntransfer-encoding`},
	{"a malformed or foreign framing header beside a status without body", `HTTP/1\.. (1..|204|304)`},
	{"a version other than 1.0 and 1.1", `HTTP/(1\.[^01]|[^1])`},
	{"a status of fewer than 100, or after more than one space", `HTTP/1\.. (0| )`},
	{"101, which nobody asked for", `HTTP/1\.. 101`},
	{"a line of a chunk that is not CRLF at its end, or a size of more than 15 digits", `(?is)\ntransfer-encoding: *chunked`},
}

func isStrict(raw []byte) bool {
	for _, s := range strict {
		if regexp.MustCompile(s.like).Match(raw) {
			return true
		}
	}
	return false
}

// compare has both clients read a response.
func compare(t *testing.T, raw []byte, most int) {
	t.Helper()
	got, err := ours(t, raw, most)
	want := theirs(t, raw)
	switch {
	case got.Err && want.Err, got.Err && isStrict(raw):
		return
	case got.Again && !want.Again:
		t.Fatalf("%q: the connection is used again, which net/http does not", raw)
	}
	want.Again = got.Again // fewer is safe
	delete(want.Header, "Connection")
	delete(got.Header, "Connection") // net/http deletes some
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q: %v: -net/http +ours\n%s", raw, err, diff)
	}
}

const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

// FuzzResponse: what both clients take is the same to them.
func FuzzResponse(f *testing.F) {
	for _, raw := range []string{
		ok, ok + ok, chunked + "2\r\nok\r\n0\r\n\r\n", chunked + "2;a=\"b\"\r\nok\r\n0\r\nT: x\r\n\r\n", chunked + "2 \r\nok\r\n00\r\n\r\n",
		"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
		"HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n" + ok,
		"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nB:\t3 \r\nConnection: a, close\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 404\r\nContent-Length: 1\r\n\r\nxx",
	} {
		f.Add([]byte(raw), uint16(0))
		f.Add([]byte(raw), uint16(1))
	}
	for _, c := range refused() {
		f.Add([]byte(c.raw), uint16(7))
	}
	f.Fuzz(func(t *testing.T, raw []byte, most uint16) { compare(t, raw, max(int(most), 1)) })
}

type refusal struct {
	name, raw string
	want      error
}

// refused are responses that are errors, and which.
func refused() []refusal {
	head := func(lines ...string) string {
		return "HTTP/1.1 200 OK\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\nok"
	}
	return []refusal{
		{"nothing", "", io.EOF},
		{"TLS", "\x15\x03\x01\x00\x02\x02", errNotHTTP},
		{"another protocol", "SSH-2.0-x\r\n", errNotHTTP},
		{"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", errNotHTTP},
		{"HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", errNotHTTP},
		{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", errNotHTTP},
		{"signed status", "HTTP/1.1 +20 OK\r\n\r\n", errNotHTTP},
		{"two lengths", head("Content-Length: 2", "Content-Length: 3"), errLength},
		{"a length twice", head("Content-Length: 2", "Content-Length: 2"), errLength},
		{"a list of lengths", head("Content-Length: 2, 2"), errLength},
		{"a negative length", head("Content-Length: -2"), errLength},
		{"a signed length", head("Content-Length: +2"), errLength},
		{"a length in hexadecimal", head("Content-Length: 0x2"), errLength},
		{"a length beyond 63 bits", head("Content-Length: 9223372036854775808"), errLength},
		{"length and chunks", head("Content-Length: 2", "Transfer-Encoding: chunked"), errCoding},
		{"gzip and chunks", head("Transfer-Encoding: gzip, chunked"), errCoding},
		{"chunks twice", head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), errCoding},
		{"identity", head("Transfer-Encoding: identity"), errCoding},
		{"chunks in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", errCoding},
		{"a space before the colon", head("Content-Length : 2"), errField},
		{"no colon", head("Content-Length"), errField},
		{"no name", head(": 2"), errField},
		{"a continued line", head("A: b", " c"), errField},
		{"a bare CR", head("A: b\rContent-Length: 2"), errField},
		{"a NUL", head("A: \x00"), errField},
		{"a bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok", errLineEnd},
		{"bare LFs", "HTTP/1.1 200 OK\n\nok", errLineEnd},
		{"cut off in the head", "HTTP/1.1 200 OK\r\nA: b\r\n", io.ErrUnexpectedEOF},
		{"cut off in the body", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", io.ErrUnexpectedEOF},
		{"101", "HTTP/1.1 101 Switching Protocols\r\n\r\n", errSwitch},
		{"1xx without end", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 6) + ok, errInterims},
		{"a huge header", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", 2*maxHead), errTooLarge},
		{"no chunk size", chunked + "\r\nok\r\n0\r\n\r\n", errChunk},
		{"a negative chunk", chunked + "-2\r\nok\r\n0\r\n\r\n", errChunk},
		{"a chunk in decimal with sign", chunked + "+2\r\nok\r\n0\r\n\r\n", errChunk},
		{"a chunk with 0x", chunked + "0x2\r\nok\r\n0\r\n\r\n", errChunk},
		{"a space before the size", chunked + " 2\r\nok\r\n0\r\n\r\n", errChunk},
		{"a chunk beyond 60 bits", chunked + "f000000000000002\r\nok\r\n0\r\n\r\n", errChunk},
		{"a chunk longer than its size", chunked + "2\r\nokk\r\n0\r\n\r\n", errChunk},
		{"a chunk line with bare LF", chunked + "2\nok\r\n0\r\n\r\n", errLineEnd},
		{"a chunk without CRLF", chunked + "2\r\nok0\r\n\r\n", errChunk},
		{"a huge extension", chunked + "2;" + strings.Repeat("x", 9000) + "\r\nok\r\n0\r\n\r\n", errTooLarge},
		{"half a chunk", chunked + "5\r\nok", io.ErrUnexpectedEOF},
		{"no last chunk", chunked + "2\r\nok\r\n", io.ErrUnexpectedEOF},
		{"a malformed trailer", chunked + "0\r\nA B\r\n\r\n", errField},
		{"trailers without end", chunked + "0\r\n" + strings.Repeat("A: b\r\n", 200) + "\r\n", errTooLarge},
	}
}

// TestRefused: a response that others may read in another way, or that has no end, is an
// error, and its connection is not used again. So it is if it comes byte by byte.
func TestRefused(t *testing.T) {
	for _, tt := range refused() {
		for _, most := range []int{1 << 20, 1} {
			if most == 1 && len(tt.raw) > 1<<16 {
				continue
			}
			got, err := ours(t, []byte(tt.raw), most)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
			}
			if got.Again {
				t.Errorf("%s: the connection is used again", tt.name)
			}
		}
	}
}

// TestSlowBody: what has come of a body is there at once.
func TestSlowBody(t *testing.T) {
	next := make(chan struct{})
	s := listen(t, "127.0.0.1:0", func(c net.Conn, r *bufio.Reader, _ int) {
		request(r)
		_, _ = io.WriteString(c, chunked+"2\r\nab\r\n2\r")
		<-next
		_, _ = io.WriteString(c, "\ncd\r\n0\r\n\r\n")
	})
	resp, err := newClient(t).Do(post(t, t.Context(), s.url, "{}"), new(Note))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p := make([]byte, 100)
	for _, want := range []string{"ab", "cd"} {
		if n, err := resp.Body.Read(p); err != nil || string(p[:n]) != want {
			t.Errorf("got %q, %v, want %q", p[:n], err, want)
		}
		if want == "ab" {
			close(next)
		}
	}
}
