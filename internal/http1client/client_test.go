package http1client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// TestReuse: after which responses a connection is used again.
func TestReuse(t *testing.T) {
	if !supported {
		t.Skip("net/http sends all requests here")
	}
	for _, tt := range []struct {
		name, response, body string
		again                bool
	}{
		{"length", ok, "ok", true},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nA: b\r\n\r\n", "ok", true},
		{"empty", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "", true},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", "", true},
		{"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "", true},
		{"after 100 and 103", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok, "ok", true},
		{"close", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok", "ok", false},
		{"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false},
		{"1.0 kept", "HTTP/1.0 200 OK\r\nConnection: x, keep-alive\r\nContent-Length: 2\r\n\r\nok", "ok", true},
		{"another response with it", ok + ok, "ok", false},
		{"a byte too many", ok + "\n", "ok", false},
	} {
		s := listen(t, "127.0.0.1:0", each(tt.response))
		c := newClient(t)
		for i := range 3 {
			status, body, err := whole(c, post(t, t.Context(), s.url, "{}"))
			if err != nil || body != tt.body || status/100 == 1 {
				t.Errorf("%s: got %d %q, %v, want %q", tt.name, status, body, err, tt.body)
			}
			if again := s.accepted.Load() == 1; i == 2 && again != tt.again {
				t.Errorf("%s: used again: %t, want %t", tt.name, again, tt.again)
			}
		}
	}
}

// TestClosed: what becomes of a request where the server closes the connection, and how
// often it is sent.
func TestClosed(t *testing.T) {
	if !supported {
		t.Skip("net/http sends all requests here")
	}
	// first answers the first request of the first connection, and then does what the
	// case says.
	for _, tt := range []struct {
		name, method string
		then         func(net.Conn, *bufio.Reader)
		want         error // nil: the request succeeds on another connection
		asked        int32
	}{
		{"between requests", "POST", func(net.Conn, *bufio.Reader) {}, nil, 2},
		{"unasked bytes between requests", "POST", func(c net.Conn, _ *bufio.Reader) { _, _ = io.WriteString(c, ok) }, nil, 2},
		{"after a POST", "POST", func(_ net.Conn, r *bufio.Reader) { request(r) }, io.EOF, 1},
		{"after a GET", "GET", func(_ net.Conn, r *bufio.Reader) { request(r) }, nil, 2},
		{"in the head", "GET", func(c net.Conn, r *bufio.Reader) {
			request(r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 O")
		}, io.ErrUnexpectedEOF, 1},
		{"in the body", "GET", func(c net.Conn, r *bufio.Reader) {
			request(r)
			_, _ = io.WriteString(c, ok[:len(ok)-1])
		}, io.ErrUnexpectedEOF, 1},
		{"in a chunk", "POST", func(c net.Conn, r *bufio.Reader) {
			request(r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
		}, io.ErrUnexpectedEOF, 1},
		{"before the last chunk", "POST", func(c net.Conn, r *bufio.Reader) {
			request(r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
		}, io.ErrUnexpectedEOF, 1},
	} {
		done := make(chan struct{})
		s := listen(t, "127.0.0.1:0", func(c net.Conn, r *bufio.Reader, n int) {
			if !request(r) {
				return
			}
			_, _ = io.WriteString(c, ok)
			if n == 0 {
				tt.then(c, r)
				_ = c.Close()
				close(done)
				return
			}
			_, _ = io.Copy(io.Discard, r)
		})
		c := newClient(t)
		_, _, err := whole(c, post(t, t.Context(), s.url, "{}"))
		require.NoError(t, err)
		if strings.HasSuffix(tt.name, "requests") {
			<-done
			time.Sleep(2 * time.Millisecond) // the system hands it on
		}
		req := post(t, t.Context(), s.url, "{}")
		if tt.method == http.MethodGet {
			req = get(t, s.url)
		}
		_, body, err := whole(c, req)
		if !errors.Is(err, tt.want) || tt.want == nil && body != "ok" {
			t.Errorf("%s: got %q, %v, want %v", tt.name, body, err, tt.want)
		}
		if got := s.accepted.Load(); got != tt.asked {
			t.Errorf("%s: %d connections, want %d", tt.name, got, tt.asked)
		}
	}
}

// TestCancel: the end of a context ends a request in each phase, closes its connection
// and leaves nothing behind. The cause is the error.
func TestCancel(t *testing.T) {
	cause := errors.New("the user has gone")
	hold := make(chan struct{})
	defer close(hold)
	for _, tt := range []struct {
		name, response string
		body           bool // the head comes
		dial           bool // not even a connection does
	}{
		{name: "dial", dial: true},
		{name: "before the head"},
		{name: "in the head", response: "HTTP/1.1 200 OK\r\nContent-"},
		{name: "in the body", response: ok[:len(ok)-1], body: true},
		{name: "in a stream", response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", body: true},
		{name: "in a body without length", response: "HTTP/1.1 200 OK\r\n\r\nok", body: true},
	} {
		gone := make(chan struct{})
		ctx, cancel := context.WithCancelCause(t.Context())
		s := listen(t, "127.0.0.1:0", func(c net.Conn, r *bufio.Reader, _ int) {
			request(r)
			_, _ = io.WriteString(c, tt.response)
			if !tt.body {
				cancel(cause)
			}
			_, _ = io.Copy(io.Discard, r) // up to its end
			close(gone)
		})
		c := newClient(t)
		if tt.dial {
			close(gone)
			c.rest.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				cancel(cause)
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}
		resp, err := c.Do(post(t, ctx, s.url, "{}"), new(Note))
		if tt.body != (err == nil) {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if err == nil {
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) }) // while it is read
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, cause) && !(tt.dial && errors.Is(err, context.Canceled)) {
			t.Errorf("%s: got %v", tt.name, err)
		}
		wait.For(t, tt.name+": the end of the connection", gone)
		if n := c.idle(); n != 0 {
			t.Errorf("%s: %d connections are kept", tt.name, n)
		}
	}
}

// TestCloseBody: a body that is closed early ends its connection, also while somebody
// reads it.
func TestCloseBody(t *testing.T) {
	s := listen(t, "127.0.0.1:0", each("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"))
	c := newClient(t)
	for _, reading := range []bool{false, true} {
		resp, err := c.Do(post(t, t.Context(), s.url, "{}"), new(Note))
		require.NoError(t, err)
		var work sync.WaitGroup
		if reading {
			begun := make(chan struct{})
			work.Go(func() {
				_, _ = resp.Body.Read(make([]byte, 2))
				close(begun)
				if _, err := resp.Body.Read(make([]byte, 2)); err == nil {
					t.Error("the read succeeds")
				}
			})
			<-begun
		}
		_ = resp.Body.Close()
		work.Wait()
		if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("got %v", err)
		}
	}
	if n := c.idle(); n != 0 {
		t.Errorf("%d connections are kept", n)
	}
}

// TestConcurrent: each of many requests at once gets its own response, and no more
// connections are kept than may be.
func TestConcurrent(t *testing.T) {
	var gate sync.WaitGroup
	gate.Add(100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("First") != "" {
			gate.Done()
			gate.Wait()
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	defer s.Close()
	c := newClient(t)
	var work sync.WaitGroup
	for range 100 {
		work.Go(func() {
			for i := range 3 {
				want := strings.Repeat("x", i*3000)
				req := post(t, t.Context(), s.URL, want)
				if i == 0 {
					req.Header["First"] = []string{"1"}
				}
				if _, got, err := whole(c, req); err != nil || got != want {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
				}
			}
		})
	}
	work.Wait()
	if n := c.idle(); n > 4 || supported && n == 0 {
		t.Errorf("%d connections are kept, want at most 4", n)
	}
}

// TestSlowReader: a request that the system takes in pieces.
func TestSlowReader(t *testing.T) {
	want := strings.Repeat("x", maxBody)
	s := listen(t, "127.0.0.1:0", func(c net.Conn, r *bufio.Reader, _ int) {
		time.Sleep(5 * time.Millisecond)
		req, err := http.ReadRequest(r)
		if err != nil {
			t.Error(err)
			return
		}
		if got, err := io.ReadAll(req.Body); err != nil || string(got) != want {
			t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
		}
		_, _ = io.WriteString(c, ok)
	})
	c := newClient(t)
	dial := c.rest.DialContext
	c.rest.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := dial(ctx, network, addr)
		if tcp, ok := nc.(*net.TCPConn); ok {
			err = tcp.SetWriteBuffer(1)
		}
		return nc, err
	}
	if _, body, err := whole(c, post(t, t.Context(), s.url, want)); err != nil || body != "ok" {
		t.Errorf("got %q, %v", body, err)
	}
}

// TestHandedOn: what goes to net/http.
func TestHandedOn(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	defer s.Close()
	for _, tt := range []struct {
		name   string
		proxy  bool
		change func(*http.Request)
		ours   bool
	}{
		{"a plain one", false, func(*http.Request) {}, true},
		{"a proxy", true, func(*http.Request) {}, false},
		{"a large body", false, func(r *http.Request) {
			r.Body, r.ContentLength = NewBody(make([]byte, maxBody+1)), maxBody+1
		}, false},
		{"another body", false, func(r *http.Request) { r.Body = io.NopCloser(r.Body) }, false},
		{"another method", false, func(r *http.Request) { r.Method = "PUT" }, false},
		{"an empty header", false, func(r *http.Request) { r.Header["User-Agent"] = []string{""} }, false},
		{"a framing header", false, func(r *http.Request) { r.Header["Connection"] = []string{"close"} }, false},
		{"an odd host", false, func(r *http.Request) { r.Host = "bücher.example" }, false},
	} {
		c := newClient(t)
		if tt.proxy {
			u, err := url.Parse(proxy.URL)
			require.NoError(t, err)
			c.rest.Proxy = http.ProxyURL(u)
		}
		req := post(t, t.Context(), s.URL, "{}")
		tt.change(req)
		var note Note
		resp, err := c.Do(req, &note)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil || !note.Connected() {
			t.Errorf("%s: %v, connected: %t", tt.name, err, note.Connected())
		}
		if ours := c.idle() == 1; ours != tt.ours && supported {
			t.Errorf("%s: sent by the client: %t, want %t", tt.name, ours, tt.ours)
		}
		c.Close()
	}
	if proxied.Load() != 1 {
		t.Errorf("the proxy has got %d requests, want 1", proxied.Load())
	}
}

// TestRefusedRequest: a header that would end its line is sent by nobody.
func TestRefusedRequest(t *testing.T) {
	s := listen(t, "127.0.0.1:0", each(ok))
	for name, value := range map[string]string{"A": "b\r\nC: d", "A B": "c", "": "d", "E": "f\x00"} {
		c := newClient(t)
		req := post(t, t.Context(), s.url, "{}")
		req.Header[name] = []string{value}
		if _, _, err := whole(c, req); err == nil || !strings.Contains(err.Error(), "invalid header") {
			t.Errorf("%q: %q: got %v", name, value, err)
		}
	}
}

// TestDialErrors: no server, and one with an address of IPv6.
func TestDialErrors(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_ = ln.Close()
	var note Note
	_, err = newClient(t).Do(post(t, t.Context(), "http://"+ln.Addr().String(), "{}"), &note)
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" || !errors.Is(err, syscall.ECONNREFUSED) || note.Connected() {
		t.Errorf("got %v, connected: %t", err, note.Connected())
	}
	s := listen(t, "[::1]:0", each(ok))
	if _, body, err := whole(newClient(t), post(t, t.Context(), s.url, "{}")); err != nil || body != "ok" {
		t.Errorf("IPv6: got %q, %v", body, err)
	}
}

// TestIdleEnd: a connection is closed when it was idle for long, and one in use when the
// client is closed and its response has ended.
func TestIdleEnd(t *testing.T) {
	if !supported {
		t.Skip("net/http sends all requests here")
	}
	s := listen(t, "127.0.0.1:0", each(ok))
	c := newClient(t)
	_, _, err := whole(c, post(t, t.Context(), s.url, "{}"))
	require.NoError(t, err)
	if c.idle() != 1 {
		t.Fatal("the connection is not kept")
	}
	c = newClient(t)
	c.rest.IdleConnTimeout = 20 * time.Millisecond
	_, _, err = whole(c, post(t, t.Context(), s.url, "{}"))
	require.NoError(t, err)
	wait.Until(t, "the end of the idle connection", func() bool { return c.idle() == 0 })
	resp, err := c.Do(post(t, t.Context(), s.url, "{}"), new(Note))
	require.NoError(t, err)
	c.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err != nil || c.idle() != 0 {
		t.Errorf("%v, %d connections are kept", err, c.idle())
	}
}
