package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// pipes is a listener whose connections are in memory, so that their deadlines are
// those of a bubble.
type pipes struct {
	ready chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ready:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// rig is a server in a bubble.
type rig struct {
	t      *testing.T
	s      *Server
	l      *pipes
	served chan error
	logged *strings.Builder
}

// The server's timeouts.
const (
	headTime = 10 * time.Second
	readTime = 30 * time.Second
	idleTime = 2 * time.Minute
)

// newRig starts a server, whose handler must be served here.
func newRig(t *testing.T, h http.HandlerFunc) *rig {
	t.Helper()
	g := &rig{t: t, l: &pipes{ready: make(chan net.Conn), over: make(chan struct{})}, served: make(chan error, 1), logged: &strings.Builder{}}
	g.s = New(&http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := w.(*exchange); !ok {
				t.Error("net/http serves this")
			}
			h(w, r)
		}),
		ReadHeaderTimeout: headTime, ReadTimeout: readTime, IdleTimeout: idleTime, ErrorLog: log.New(g.logged, "", 0),
	})
	go func() { g.served <- g.s.Serve(g.l) }()
	return g
}

// dial connects. The connection is closed at the end of the test.
func (g *rig) dial() net.Conn {
	client, server := net.Pipe()
	g.l.ready <- server
	g.t.Cleanup(func() { _ = client.Close() })
	return client
}

// end ends the server.
func (g *rig) end() {
	g.t.Helper()
	require.NoError(g.t, g.s.Close())
	if err := <-g.served; !errors.Is(err, http.ErrServerClosed) {
		g.t.Error(err)
	}
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
}

// answer reads an answer and its body.
func answer(t *testing.T, in *bufio.Reader) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(in, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

// closes wants the server to close the connection after a time, and returns what
// it has sent before.
func closes(t *testing.T, c net.Conn, after time.Duration) string {
	t.Helper()
	start := time.Now()
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	if d := time.Since(start); d < after || d > after+2*tick {
		t.Errorf("it was closed after %v, want %v", d, after)
	}
	return string(got)
}

// readAll is a handler that reads the body.
func readAll(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, "the body does not come", http.StatusBadRequest)
	}
}

// TestSlowClients: what a client may take for each part of a request is bounded,
// and the bound is for the part, not for each byte of it.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, before, sends string
		each                time.Duration // after each byte of sends
		after               time.Duration // since the last thing that counts
		answer              string
	}{
		{"says nothing", "", "", 0, headTime, ""},
		{"begins a head", "", "POST / HTTP/1.1\r\n", 0, headTime - 3*tick, ""},
		{"sends a head byte by byte", "", "POST / HTTP/1.1\r\nA", time.Second, headTime - 3*tick, ""},
		{"is idle", post("/", "1"), "", 0, idleTime, ""},
		{"begins another head", post("/", "1"), "PO", 0, headTime, ""},
		{"sends another head byte by byte", post("/", "1"), "POST / HTTP/1.1\r\n", time.Second, headTime, ""},
		{"begins a body", "", lines("12", "POST / HTTP/1.1", "Host: a", "Content-Length: 3"), 0, readTime + lingerSilence - 3*tick, "HTTP/1.1 400 Bad Request\r\n"},
		{"sends another head and a body slowly", post("/", "1"), lines("12", "POST / HTTP/1.1", "Host: a", "Content-Length: 3"), 100 * time.Millisecond, readTime + lingerSilence, "HTTP/1.1 400 Bad Request\r\n"},
		{"begins another body", post("/", "1"), lines("", "POST / HTTP/1.1", "Host: a", "Content-Length: 3"), 0, readTime + lingerSilence, "HTTP/1.1 400 Bad Request\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, readAll)
				defer g.end()
				c := g.dial()
				if tt.before != "" {
					write(t, c, tt.before)
					answer(t, bufio.NewReader(c))
				}
				if tt.sends != "" {
					time.Sleep(3 * tick) // sweep has gone to sleep
				}
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					for _, b := range []byte(tt.sends) {
						if _, err := c.Write([]byte{b}); err != nil {
							return
						}
						time.Sleep(tt.each)
					}
				}()
				if got := closes(t, c, tt.after); !strings.HasPrefix(got, tt.answer) || tt.answer == "" && got != "" {
					t.Errorf("got %q", got)
				}
				<-sent
			})
		})
	}
}

// TestLastsLong: what the bounds are not about is not cut: a call that takes an
// hour, and the requests after one whose parts came late.
func TestLastsLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			readAll(w, r)
			time.Sleep(time.Hour)
			if err := r.Context().Err(); err != nil {
				t.Error(err)
			}
		})
		defer g.end()
		c := g.dial()
		in := bufio.NewReader(c)
		text := post("/", "body")
		for range 3 {
			for _, half := range []string{text[:20], text[20 : len(text)-2], text[len(text)-2:]} {
				time.Sleep(5 * time.Second)
				write(t, c, half)
			}
			if resp, _ := answer(t, in); resp.StatusCode != http.StatusOK {
				t.Errorf("got %s", resp.Status)
			}
			time.Sleep(time.Minute)
		}
	})
}

// TestClientGoes: the context of a request ends with the client, unless that is sooner
// than anybody looks. The client's next request is no end.
func TestClientGoes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		body     string
		does     func(t *testing.T, c net.Conn)
		min, max time.Duration
	}{
		{"goes at once", "1", func(_ *testing.T, c net.Conn) { _ = c.Close() }, 0, 2 * tick},
		{"goes later", "1", func(_ *testing.T, c net.Conn) {
			time.Sleep(10 * time.Second)
			_ = c.Close()
		}, 10 * time.Second, 10 * time.Second},
		{"goes after a large body", strings.Repeat("1", 3*bufferSize), func(_ *testing.T, c net.Conn) {
			time.Sleep(10 * time.Second)
			_ = c.Close()
		}, 10 * time.Second, 10 * time.Second},
		{"sends more", "1", func(t *testing.T, c net.Conn) {
			time.Sleep(10 * time.Second)
			next := post("/next", "2")
			write(t, c, next[:7])
			in := bufio.NewReader(c)
			answer(t, in)
			write(t, c, next[7:])
			if _, body := answer(t, in); body != "2" {
				t.Errorf("got %q", body)
			}
		}, time.Minute, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan time.Duration, 1)
				g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if r.URL.Path == "/next" {
						_, _ = w.Write(body)
						return
					}
					start := time.Now()
					select {
					case <-r.Context().Done():
					case <-time.After(time.Minute):
					}
					ended <- time.Since(start)
				})
				defer g.end()
				c := g.dial()
				write(t, c, post("/", tt.body))
				tt.does(t, c)
				if d := <-ended; d < tt.min || d > tt.max {
					t.Errorf("the context ended after %v", d)
				}
			})
		})
	}
}

// TestEndsAfterMore: what a client has sent before its end is served, though the end is
// seen while the request before it is.
func TestEndsAfterMore(t *testing.T) {
	t.Parallel()
	var served []string
	s := New(&http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		served = append(served, r.URL.Path)
		if r.URL.Path == "/slow" {
			<-r.Context().Done() // the end is seen
		}
	})})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go s.Serve(l)
	defer s.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	write(t, c, post("/slow", "1")+post("/next", "1")+post("/last", "1"))
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	if got, err := io.ReadAll(c); strings.Count(string(got), "200 OK") != 3 {
		t.Errorf("%v were served, the client reads %q, %v", served, got, err)
	}
}

// TestDeadlines: those that a handler sets hold, and for its own request only.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var idle http.ResponseWriter
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			f := http.NewResponseController(w)
			if r.URL.Path == "/read" {
				require.NoError(t, f.SetReadDeadline(time.Now().Add(time.Second)))
				_, err := io.ReadAll(r.Body)
				var ne net.Error
				if !errors.As(err, &ne) || !ne.Timeout() {
					t.Errorf("reading: %v", err)
				}
				http.Error(w, "slow", http.StatusRequestTimeout)
				return
			}
			if idle != nil && http.NewResponseController(idle).SetWriteDeadline(time.Now().Add(time.Second)) == nil {
				t.Error("a request that is over sets a deadline")
			}
			idle = w
			readAll(w, r)
			require.NoError(t, f.SetReadDeadline(time.Now().Add(time.Hour)))
			require.NoError(t, f.SetWriteDeadline(time.Now().Add(time.Second)))
			time.Sleep(500 * time.Millisecond)
		})
		defer g.end()
		c := g.dial()
		in := bufio.NewReader(c)
		for range 3 {
			write(t, c, post("/", "1"))
			time.Sleep(10 * time.Second) // the answer waits, with no deadline of the handler's
			answer(t, in)
		}
		write(t, c, lines("12", "POST /read HTTP/1.1", "Host: a", "Content-Length: 3"))
		if resp, _ := answer(t, in); resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
			t.Errorf("got %s", resp.Status)
		}
		closes(t, c, lingerSilence)
	})
}

// TestLinger: a client that sends on after it was refused is read for a while, so that it
// sees the answer, and then its connection is closed.
func TestLinger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		sends int           // bytes, one each second
		after time.Duration // since the last that was taken
	}{
		{"stops sending", 20, lingerSilence - time.Second},
		{"sends on", 1000, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
				defer g.end()
				c := g.dial()
				write(t, c, lines("", "POST / HTTP/1.1", "Host: a", "Content-Length: 1000000"))
				answer(t, bufio.NewReader(c))
				time.Sleep(time.Second / 2) // not at the moment of a bound
				taken := 0
				for taken < tt.sends {
					if _, err := io.WriteString(c, "x"); err != nil {
						break
					}
					taken++
					time.Sleep(time.Second)
				}
				if want := min(tt.sends, int(lingerTime/time.Second)); taken != want {
					t.Errorf("%d bytes were taken, want %d", taken, want)
				}
				closes(t, c, tt.after)
			})
		})
	}
}

// TestTakesNoAnswer: a client that does not read holds its connection for a while.
func TestTakesNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, readAll)
		defer g.end()
		c := g.dial()
		write(t, c, post("/", "1"))
		time.Sleep(answerTime + 3*tick)
		if got := closes(t, c, 0); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

// TestShutdown: idle connections end at once, others with their requests, and no
// new ones begin.
func TestShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			readAll(w, r)
			if r.URL.Path == "/slow" {
				time.Sleep(time.Minute)
			}
		})
		used, waits, unused := g.dial(), g.dial(), g.dial()
		write(t, used, post("/", "1"))
		answer(t, bufio.NewReader(used))
		write(t, waits, post("/slow", "1"))
		time.Sleep(time.Second)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.s.Shutdown(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown does not wait: %v", err)
		}
		closes(t, used, 0)
		closes(t, unused, 0)
		done := make(chan error, 1)
		go func() { done <- g.s.Shutdown(t.Context()) }()
		if resp, _ := answer(t, bufio.NewReader(waits)); resp.StatusCode != http.StatusOK || !resp.Close {
			t.Errorf("got %s, close: %v", resp.Status, resp.Close)
		}
		closes(t, waits, 0)
		require.NoError(t, <-done)
		if err := <-g.served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		g.s.mu.Lock()
		defer g.s.mu.Unlock()
		if len(g.s.conns) > 0 {
			t.Errorf("%d connections are left", len(g.s.conns))
		}
	})
}

// TestClose: requests under way see it.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		g := newRig(t, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(ended)
		})
		write(t, g.dial(), post("/", "1"))
		time.Sleep(time.Second)
		g.end()
		<-ended
	})
}

// TestEvents: what a handler flushes arrives at once, and the stream can last.
func TestEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			readAll(w, r)
			for range 3 {
				_, _ = io.WriteString(w, "data: 1\n\n")
				require.NoError(t, http.NewResponseController(w).Flush())
				time.Sleep(10 * time.Minute)
			}
		})
		defer g.end()
		c := g.dial()
		in := bufio.NewReader(c)
		for range 2 {
			write(t, c, post("/", "1"))
			resp, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			for n := range 3 {
				start := time.Now()
				event := make([]byte, len("data: 1\n\n"))
				if _, err := io.ReadFull(resp.Body, event); err != nil || string(event) != "data: 1\n\n" {
					t.Fatalf("got %q, %v", event, err)
				}
				if d := time.Since(start); n > 0 && d != 10*time.Minute || n == 0 && d != 0 {
					t.Errorf("event %d comes after %v", n, d)
				}
			}
			if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
				t.Errorf("got %q, %v", rest, err)
			}
		}
	})
}

// TestPanic: a handler that panics costs its connection, and it is logged.
func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("of a handler")
			}
		})
		defer g.end()
		c, other := g.dial(), g.dial()
		write(t, c, post("/panic", "1"))
		if got := closes(t, c, 0); got != "" {
			t.Errorf("got %q", got)
		}
		if log := g.logged.String(); !strings.Contains(log, "panic serving") || !strings.Contains(log, "of a handler") {
			t.Errorf("logged: %q", log)
		}
		write(t, other, post("/", "1"))
		answer(t, bufio.NewReader(other))
	})
}

// TestKept: what a handler keeps of a request is not that of the next.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var idle []*http.Request
		var bodies []io.Reader
		g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
			idle, bodies = append(idle, r), append(bodies, r.Body)
			w.Header().Set("X-Kept", r.Header.Get("A"))
			if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok || local.String() == "" {
				t.Error("there is no local address")
			}
		})
		defer g.end()
		c := g.dial()
		in := bufio.NewReader(c)
		for _, a := range []string{"1", "2", "1"} {
			write(t, c, post("/", "body"+a, "A: "+a))
			if resp, _ := answer(t, in); resp.Header.Get("X-Kept") != a {
				t.Errorf("got %v", resp.Header)
			}
		}
		for i, want := range []string{"1", "2", "1"} {
			if got := idle[i].Header.Get("A"); got != want {
				t.Errorf("request %d has %q now", i, got)
			}
			if idle[i].Context().Err() == nil {
				t.Errorf("the context of request %d has not ended", i)
			}
			if n, err := bodies[i].Read(make([]byte, 9)); n > 0 || err == nil {
				t.Errorf("the body of request %d gives %d bytes, %v", i, n, err)
			}
		}
	})
}
