package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// sight is a request as a handler saw it.
type sight struct {
	Method, Target, Path, Host, Body, Error string
	Length                                  int64
	Header                                  http.Header
}

// witness is a handler that answers by the path, and notes what it has seen.
type witness struct {
	mu    sync.Mutex // guards what follows
	seen  []sight
	quick int // requests that this package has served
}

func (s *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one := sight{Method: r.Method, Target: r.RequestURI, Path: r.URL.Path, Host: r.Host, Length: r.ContentLength, Header: r.Header.Clone()}
	if r.URL.Path != "/unread" {
		body, err := io.ReadAll(r.Body)
		one.Body = string(body)
		if err != nil {
			one.Error = "some" // net/http has texts of its own
		}
	}
	one.Header.Del("Content-Length")
	s.mu.Lock()
	s.seen = append(s.seen, one)
	if _, ok := w.(*exchange); ok {
		s.quick++
	}
	s.mu.Unlock()
	if answer := answers[r.URL.Path]; answer != nil {
		answer(w, one.Body)
		return
	}
	http.NotFound(w, r)
}

// answers are the ways in which a handler can answer, by path.
var answers = map[string]func(w http.ResponseWriter, body string){
	"/": func(w http.ResponseWriter, body string) {
		w.Header()["Content-Type"] = []string{"application/json"}
		w.WriteHeader(http.StatusOK)
		fmt.Fprintf(w, "[%q]", body)
		w.WriteHeader(http.StatusTeapot) // too late
	},
	"/unread":  func(w http.ResponseWriter, _ string) { http.Error(w, "no", http.StatusForbidden) },
	"/nothing": func(http.ResponseWriter, string) {},
	"/accepted": func(w http.ResponseWriter, _ string) {
		w.Header().Set("X-Two", "a\r\nX-Three: b")
		w.Header()["X-Many"] = []string{"1", "2"}
		w.Header()["X Bad: "] = []string{"1"}
		w.WriteHeader(http.StatusAccepted)
		w.Header().Set("X-Late", "1")
	},
	"/none": func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Length", "3")
		w.WriteHeader(http.StatusNoContent)
		if _, err := w.Write([]byte("abc")); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(err)
		}
	},
	"/page": func(w http.ResponseWriter, _ string) { _, _ = io.WriteString(w, "<html>") },
	"/short": func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "12345")
	},
	"/long": func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Length", "3")
		_, _ = io.WriteString(w, "123")
		if _, err := io.WriteString(w, "4"); !errors.Is(err, http.ErrContentLength) {
			panic(err)
		}
	},
	"/close": func(w http.ResponseWriter, _ string) { w.Header().Set("Connection", "close") },
	"/large": func(w http.ResponseWriter, _ string) {
		all := strings.Repeat("0123456789abcdef", 5000)
		w.Header().Set("Content-Length", strconv.Itoa(len(all)))
		_, _ = io.WriteString(w, all)
	},
	"/parts": func(w http.ResponseWriter, _ string) {
		for n := range 40 {
			_, _ = io.WriteString(w, strings.Repeat(strconv.Itoa(n), 37*n))
		}
	},
	"/events": func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "data: %q\n\n", body)
		}
	},
	"/panic": func(w http.ResponseWriter, _ string) {
		_, _ = io.WriteString(w, "lost")
		panic(http.ErrAbortHandler)
	},
}

// server serves connections over TCP until the test ends.
type server struct {
	address string
	saw     *witness
}

// both starts a server of this package and one of net/http alone.
func both(tb testing.TB) (quick, plain server) {
	tb.Helper()
	timeouts := func(h http.Handler) *http.Server {
		return &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	}
	start := func(serve func(*http.Server, net.Listener)) server {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(tb, err)
		s := server{l.Addr().String(), &witness{}}
		mux := http.NewServeMux()
		for path := range answers {
			mux.Handle(path, s.saw)
		}
		serve(timeouts(mux), l)
		return s
	}
	quick = start(func(srv *http.Server, l net.Listener) {
		s := New(srv)
		go s.Serve(l)
		tb.Cleanup(func() { _ = s.Close() })
	})
	plain = start(func(srv *http.Server, l net.Listener) {
		go srv.Serve(l)
		tb.Cleanup(func() { _ = srv.Close() })
	})
	return quick, plain
}

// reply is what a client reads of an answer.
type reply struct {
	Status int
	Header http.Header
	Body   string
	Close  bool
	Error  bool
}

// send sends bytes, in pieces of a size, and half of the connection's end. It
// returns the answers, what the handler has seen, and whether the connection was
// reset, which loses answers that are on their way.
func (s server) send(tb testing.TB, text []byte, piece int) (replies []reply, seen []sight, quick int, reset bool) {
	tb.Helper()
	s.saw.mu.Lock()
	s.saw.seen, s.saw.quick = nil, 0
	s.saw.mu.Unlock()
	rwc, err := net.Dial("tcp", s.address)
	require.NoError(tb, err)
	defer rwc.Close()
	_ = rwc.(*net.TCPConn).SetLinger(0) // the port is free at once
	_ = rwc.SetDeadline(wait.Deadline(tb))
	sent := make(chan error, 1)
	go func() {
		for rest := text; len(rest) > 0; {
			n := min(piece, len(rest))
			if _, err := rwc.Write(rest[:n]); err != nil {
				sent <- err // and reading does not tell it again
				return
			}
			rest = rest[n:]
		}
		sent <- rwc.(*net.TCPConn).CloseWrite()
	}()
	all, err := io.ReadAll(rwc)
	notSent := <-sent
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		tb.Fatalf("the server keeps the connection after its end; so far %q", all)
	}
	s.saw.mu.Lock()
	defer s.saw.mu.Unlock()
	return parse(all), s.saw.seen, s.saw.quick, err != nil || notSent != nil
}

// parse takes answers apart.
func parse(all []byte) (replies []reply) {
	for in := bufio.NewReader(bytes.NewReader(all)); ; {
		if _, err := in.Peek(1); err != nil {
			return replies
		}
		resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodPost})
		if err != nil {
			return append(replies, reply{Error: true})
		}
		body, err := io.ReadAll(resp.Body)
		one := reply{Status: resp.StatusCode, Header: resp.Header, Body: string(body), Close: resp.Close, Error: err != nil}
		if date, err := http.ParseTime(one.Header.Get("Date")); err == nil && time.Since(date).Abs() < time.Minute {
			one.Header.Set("Date", "now")
		}
		one.Header.Del("Content-Length") // the answer has one, or it comes in chunks
		replies = append(replies, one)
	}
}

// probe is a request that shows whether the connection goes on where it should.
const probe = "POST /?probe HTTP/1.1\r\nHost: probe\r\nContent-Length: 5\r\n\r\nprobe"

// compare sends the same to both servers, and a probe after it.
func compare(tb testing.TB, quick, plain server, text []byte, piece int) (served int) {
	tb.Helper()
	text = append(bytes.Clone(text), probe...)
	got, saw, served, reset1 := quick.send(tb, text, piece)
	want, wantSaw, _, reset2 := plain.send(tb, text, piece)
	if !reflect.DeepEqual(saw, wantSaw) {
		tb.Errorf("%q:\nthe handler saw %+v\nwith net/http   %+v", text, saw, wantSaw)
	}
	for i := range min(len(saw), len(got), len(want)) {
		if saw[i].Error != "" { // the client has ended: it reads no more
			got[i].Close, want[i].Close = true, true
		}
	}
	if reset1 || reset2 { // part of what was answered may be lost
		n := min(len(got), len(want))
		got, want = got[:max(n-1, 0)], want[:max(n-1, 0)]
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		tb.Errorf("%q:\ngot           %+v\nwith net/http %+v", text, short(got), short(want))
	}
	return served
}

// short returns answers with short bodies, to be shown.
func short(all []reply) []reply {
	for i := range all {
		if body := all[i].Body; len(body) > 200 {
			all[i].Body = fmt.Sprintf("%s… %d bytes", body[:100], len(body))
		}
	}
	return all
}

// lines joins lines of a head, and a body.
func lines(body string, head ...string) string {
	return strings.Join(head, "\r\n") + "\r\n\r\n" + body
}

// post is a usual request.
func post(path, body string, more ...string) string {
	return lines(body, append([]string{"POST " + path + " HTTP/1.1", "Host: 127.0.0.1:1", "Content-Length: " + strconv.Itoa(len(body))}, more...)...)
}

// samples are what is sent, and how many requests this package serves of it,
// the probe not counted.
var samples = []struct {
	name, text string
	served     int
}{
	{"nothing", "", 0},
	{"usual", post("/", "abc", "Content-Type: application/json", "Accept: application/json, text/event-stream", "Connection: keep-alive"), 1},
	{"no body", post("/", ""), 1},
	{"a query", post("/?a=b&c=%2e;d", "abc"), 1},
	{"escapes in the path", post("/%75nread", "abc"), 1},
	{"one after another", post("/", "1") + post("/", "22") + post("/", "1", "A: b") + post("/", "1", "A: c") + post("/", "1", "B: c", "A: c"), 5},
	{"fewer lines", post("/", "1", "A: b", "C: d") + post("/", "1", "C: d") + post("/", "1"), 3},
	{"equal names", post("/", "1", "A: b", "a: c", "A: d") + post("/", "1", "A: b") + post("/", "1", "A: b", "A: c"), 3},
	{"values", post("/", "1", "A:", "B: ", "C:x", "D:\t x\ty \t", "E: a:b"), 1},
	{"another path", post("/", "1") + post("/nothing", "1") + post("/none", "1") + post("/accepted", "1") + post("/page", "1"), 5},
	{"line ends between", post("/", "1") + "\r\n" + post("/", "1") + "\r\n\r\n" + post("/", "1"), 3},
	{"many line ends between", post("/", "1") + "\r\n\r\n\r\n" + post("/", "1"), 1},
	{"fewer bytes between than a method", post("/", "1") + "\r\nG", 1},
	{"a body that has too much", lines("1"+probe[:len(probe)-3], "POST / HTTP/1.1", "Host: a", "Content-Length: "+strconv.Itoa(2*len(probe)-4)), 1},
	{"line ends before", "\r\n" + post("/", "1"), 0},
	{"unread", post("/unread", "abc") + post("/unread", strings.Repeat("x", 100<<10)), 2},
	{"unread and large", post("/unread", strings.Repeat("x", 300<<10)), 1},
	{"a large body", post("/", strings.Repeat("y", 300<<10)) + post("/", "1"), 2},
	{"answers in parts", post("/large", "1") + post("/parts", "1") + post("/events", "1") + post("/", "1"), 4},
	{"too little is answered", post("/short", "1"), 1},
	{"too much is answered", post("/long", "1") + post("/", "1"), 1},
	{"the handler closes", post("/close", "1"), 1},
	{"the handler panics", post("/panic", "1"), 1},
	{"not found", post("/unknown", "1"), 1},
	{"to another path", post("/a/../", "1"), 0},
	{"a body that ends", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 500"), 1},
	{"an unread body that ends", lines("abc", "POST /unread HTTP/1.1", "Host: a", "Content-Length: 500"), 1},
	{"half a head", "POST / HTTP/1.1\r\nHost: a\r\n", 0},

	{"length and chunks", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Content-Length: 5", "Transfer-Encoding: chunked"), 0},
	{"chunks and length", lines("5\r\nhello\r\n0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Content-Length: 3"), 0},
	{"chunks", lines("5\r\nhello\r\n0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"), 0},
	{"chunks of nonsense", lines("5;x=y\r\nhello\r\n-1\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked"), 0},
	{"chunks in capitals", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "TRANSFER-ENCODING: CHUNKED"), 0},
	{"chunks with a control byte", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Content-Length: 5", "Transfer-Encoding: \x0bchunked"), 0},
	{"chunks after a space", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Content-Length: 5", "Transfer-Encoding : chunked"), 0},
	{"chunks in an obsolete fold", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Content-Length: 5", "A: b", " Transfer-Encoding: chunked"), 0},
	{"chunks twice", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked, chunked"), 0},
	{"chunks, then nothing", lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: identity"), 0},
	{"gzip", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 3", "Transfer-Encoding: gzip"), 0},
	{"two lengths", lines("abcdef", "POST / HTTP/1.1", "Host: a", "Content-Length: 3", "Content-Length: 6"), 0},
	{"two equal lengths", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 3", "Content-Length: 3"), 0},
	{"a list of lengths", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 3, 3"), 0},
	{"a signed length", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: +3"), 0},
	{"a negative length", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: -3"), 0},
	{"a length of zeros", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 003"), 0},
	{"a length with a space", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 3 3"), 0},
	{"a length with space around", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: \t3 \t"), 1},
	{"a length in hex", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 0x3"), 0},
	{"a length without digits", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length:"), 0},
	{"a length that is too large", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length: 18446744073709551619"), 0},
	{"a length after a space", lines("abc", "POST / HTTP/1.1", "Host: a", "Content-Length : 3"), 0},
	{"a length under another name", lines("abc", "POST / HTTP/1.1", "Host: a", "Content_Length: 3", "Content-Length: 3"), 1},
	{"no length", lines("", "POST / HTTP/1.1", "Host: a"), 0},
	{"a length changes", post("/", "1") + lines("0\r\n\r\n", "POST / HTTP/1.1", "Host: 127.0.0.1:1", "Transfer-Encoding: chunked"), 1},
	{"a second length later", post("/", "1") + lines("12", "POST / HTTP/1.1", "Host: 127.0.0.1:1", "Content-Length: 1", "Content-Length: 2"), 1},
	{"a host later", post("/", "1") + lines("1", "POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 1"), 1},

	{"no lines", "POST / HTTP/1.1\r\n\r\n", 0},
	{"no host", lines("abc", "POST / HTTP/1.1", "Content-Length: 3"), 0},
	{"two hosts", lines("abc", "POST / HTTP/1.1", "Host: a", "Host: b", "Content-Length: 3"), 0},
	{"an empty host", lines("abc", "POST / HTTP/1.1", "Host:", "Content-Length: 3"), 0},
	{"a bad host", lines("abc", "POST / HTTP/1.1", "Host: a b@c/d", "Content-Length: 3"), 0},
	{"an address", lines("abc", "POST / HTTP/1.1", "Host: [::1]:80", "Content-Length: 3"), 1},

	{"line feeds", "POST / HTTP/1.1\nHost: a\nContent-Length: 3\n\nabc", 0},
	{"one line feed", "POST / HTTP/1.1\r\nHost: a\nContent-Length: 3\r\n\r\nabc", 0},
	{"a line feed at the end", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\nabc", 0},
	{"a carriage return", "POST / HTTP/1.1\r\nHost: a\rContent-Length: 3\r\n\r\nabc", 0},
	{"two carriage returns", "POST / HTTP/1.1\r\nHost: a\r\r\nContent-Length: 3\r\n\r\nabc", 0},
	{"an obsolete fold", lines("abc", "POST / HTTP/1.1", "Host: a", "A: b", "\tc", "Content-Length: 3"), 0},
	{"a fold at first", lines("abc", "POST / HTTP/1.1", " Host: a", "Content-Length: 3"), 0},
	{"a zero byte", lines("abc", "POST / HTTP/1.1", "Host: a", "A: b\x00c", "Content-Length: 3"), 0},
	{"a control byte", lines("abc", "POST / HTTP/1.1", "Host: a", "A: b\x01c", "Content-Length: 3"), 0},
	{"beyond ASCII", lines("abc", "POST / HTTP/1.1", "Host: a", "A: \xc3\xa9", "Content-Length: 3"), 0},
	{"a name beyond ASCII", lines("abc", "POST / HTTP/1.1", "Host: a", "\xc3\xa9: a", "Content-Length: 3"), 0},
	{"a name with a space", lines("abc", "POST / HTTP/1.1", "Host: a", "A B: c", "Content-Length: 3"), 0},
	{"no name", lines("abc", "POST / HTTP/1.1", "Host: a", ": c", "Content-Length: 3"), 0},
	{"no colon", lines("abc", "POST / HTTP/1.1", "Host: a", "A", "Content-Length: 3"), 0},
	{"a long line", post("/", "abc", "A: "+strings.Repeat("b", 20<<10)), 0},
	{"a line of the buffer's size", post("/", "abc", "A: "+strings.Repeat("b", bufferSize-64)), 1},
	{"too long a line", post("/", "abc", "A: "+strings.Repeat("b", 80<<10)), 0},
	{"many lines", post("/", "abc", strings.Split(strings.Repeat("A: b\n", 100), "\n")[:100]...), 0},

	{"GET", lines("", "GET / HTTP/1.1", "Host: a"), 0},
	{"GET after a POST", post("/", "1") + lines("", "GET / HTTP/1.1", "Host: a") + post("/", "1"), 1},
	{"GET with a body", lines("abc", "GET / HTTP/1.1", "Host: a", "Content-Length: 3"), 0},
	{"OPTIONS", lines("", "OPTIONS * HTTP/1.1", "Host: a", "Content-Length: 0"), 0},
	{"HEAD", lines("", "HEAD / HTTP/1.1", "Host: a"), 0},
	{"post", lines("", "post / HTTP/1.1", "Host: a", "Content-Length: 0"), 0},
	{"POSTS", lines("", "POSTS / HTTP/1.1", "Host: a", "Content-Length: 0"), 0},
	{"absolute", post("http://b/", "abc"), 0},
	{"asterisk", post("*", "abc"), 0},
	{"authority", post("a:1", "abc"), 0},
	{"no target", lines("", "POST HTTP/1.1", "Host: a", "Content-Length: 0"), 0},
	{"two slashes", post("//a/b", "abc"), 0},
	{"a space in the target", post("/ /", "abc"), 0},
	{"two spaces", lines("abc", "POST  / HTTP/1.1", "Host: a", "Content-Length: 3"), 0},
	{"a tab", lines("abc", "POST\t/ HTTP/1.1", "Host: a", "Content-Length: 3"), 0},
	{"a bad escape", post("/%zz", "abc"), 0},
	{"a fragment", post("/#a", "abc"), 1},
	{"HTTP/1.0", lines("abc", "POST / HTTP/1.0", "Host: a", "Content-Length: 3"), 0},
	{"HTTP/1.2", lines("abc", "POST / HTTP/1.2", "Host: a", "Content-Length: 3"), 0},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", 0},
	{"no protocol", lines("abc", "POST /", "Host: a", "Content-Length: 3"), 0},
	{"TLS", "\x16\x03\x01\x00\xa5\x01\x00", 0},

	{"to be continued", post("/", "abc", "Expect: 100-continue"), 0},
	{"another expectation", post("/", "abc", "Expect: more"), 0},
	{"the last request", post("/", "abc", "Connection: close"), 0},
	{"upgrade", post("/", "abc", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), 0},
	{"hops", post("/", "abc", "Connection: keep-alive, A", "A: b"), 0},
	{"trailers", post("/", "abc", "Trailer: A", "TE: trailers"), 0},
	{"no cache", post("/", "abc", "Pragma: no-cache"), 0},
}

// TestBoth: what a client reads and what the handler sees is the same with this
// package and with net/http alone, and where the connection goes on.
func TestBoth(t *testing.T) {
	t.Parallel()
	quick, plain := both(t)
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			served := compare(t, quick, plain, []byte(tt.text), 1<<20)
			if served != tt.served && served != tt.served+1 {
				t.Errorf("%d requests were served here, want %d", served, tt.served)
			}
			if len(tt.text) < 1<<10 {
				compare(t, quick, plain, []byte(tt.text), 1)
			}
		})
	}
}

// FuzzBoth is TestBoth with what nobody has thought of.
func FuzzBoth(f *testing.F) {
	quick, plain := both(f)
	for _, s := range samples {
		if len(s.text) < 8<<10 {
			f.Add([]byte(s.text), 1<<10)
			f.Add([]byte(s.text), 7)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		compare(t, quick, plain, text, max(piece, len(text)/50+1))
	})
}
