//go:build faults && linux

package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// clientTest runs a server that behaves, one that answers no call, and callers
// of the former, and looks afterwards at whether everything came back.
func clientTest(t *testing.T, memory int, attack func(t *testing.T, d *daemon)) {
	t.Helper()
	t.Parallel()
	d := serve(t, wire.Servers{"good": hostileEntry("good", ""), "hung": hostileEntry("hung", "hang-call")})
	for _, name := range []string{"good", "hung"} {
		attempt(d, name, 0) // they run now
	}
	before := d.usage(t)
	g := startCallers(t, d, "good", 2, 5*time.Millisecond)
	attack(t, d)
	g.finish()
	after := d.usage(t)
	wait.Until(t, lazyText(func() string { return fmt.Sprintf("files come back: %v, before %v", d.usage(t), before) }), func() bool { return d.usage(t).files <= before.files+8 })
	t.Logf("%d calls of others; before %v, after %v, at the end %v", g.calls.Load(), before, after, d.usage(t))
	if after.peak > before.peak+memory*factor() {
		t.Errorf("memory has reached %d MiB, %d before: want at most %d more", after.peak, before.peak, memory)
	}
}

// sendRaw opens a connection and sends what is given.
func sendRaw(t *testing.T, d *daemon, text string) net.Conn {
	t.Helper()
	c, err := wire.Dial(d.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	return c
}

// postHead begins a request that is in order.
var postHead = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" + wire.Credential()

// TestSlowHeaders: whoever takes for ever over the header of a request, or
// never sends one, loses the connection.
func TestSlowHeaders(t *testing.T) {
	clientTest(t, 60, func(t *testing.T, d *daemon) {
		if testing.Short() {
			trickle(t, d, "POST /mcp HTTP/1.1\r\n"+wire.Credential(), "X: y\r\n", 10, 10*time.Second)
			return
		}
		trickle(t, d, "POST /mcp HTTP/1.1\r\n"+wire.Credential(), "X: y\r\n", 100, 10*time.Second)
	})
}

// TestSlowBodies: the same for the body.
func TestSlowBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	clientTest(t, 60, func(t *testing.T, d *daemon) {
		trickle(t, d, postHead+"Content-Length: 1000\r\n\r\n", " ", 100, 30*time.Second)
	})
}

// trickle starts n clients that send a beginning, and then a little each quarter
// of a second, until they are cut off, which has to be within a bound.
func trickle(t *testing.T, d *daemon, begin, part string, n int, bound time.Duration) {
	var wg sync.WaitGroup
	for range n {
		c := sendRaw(t, d, begin)
		wg.Go(func() {
			stop := make(chan struct{})
			defer close(stop)
			go func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(250 * time.Millisecond):
						if _, err := io.WriteString(c, part); err != nil {
							return
						}
					}
				}
			}()
			_ = c.SetReadDeadline(time.Now().Add(10 * bound))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the connection is still open after %s", 10*bound)
			}
		})
	}
	wg.Wait()
}

// TestClaimedBodies: a body that is said to be large and does not come costs no
// memory.
func TestClaimedBodies(t *testing.T) {
	clientTest(t, 60, func(t *testing.T, d *daemon) {
		var all []net.Conn
		for range 200 {
			all = append(all, sendRaw(t, d, postHead+"Content-Length: 60000000\r\n\r\n{"))
		}
		attempt(d, "good", 0)
		for _, c := range all {
			_ = c.Close()
		}
	})
}

// TestHugeBodies: one that is too large is refused at once, and so are many
// large ones at once, which memory would not hold.
func TestHugeBodies(t *testing.T) {
	clientTest(t, 700, func(t *testing.T, d *daemon) {
		c := sendRaw(t, d, postHead+"Content-Length: 100000000000\r\n\r\n{")
		_ = c.SetReadDeadline(time.Now().Add(slack))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("100 GB: status %d", res.StatusCode)
		}
		if testing.Short() {
			return
		}
		var wg sync.WaitGroup
		kinds := map[kind]int{}
		var mu sync.Mutex
		for range 24 {
			wg.Go(func() {
				k, text := attempt(d, "hung", 40<<20)
				mu.Lock()
				defer mu.Unlock()
				if kinds[k]++; k != refused && k != failed || text == "" {
					t.Errorf("got %s: %.200s", k, text)
				}
			})
		}
		wg.Wait()
		t.Logf("24 bodies of 40 MiB: %v", kinds)
		if !testing.Short() {
			start := time.Now()
			wait.Until(t, lazyText(func() string { return fmt.Sprintf("memory comes back: %v, at the start %v", d.usage(t), d.start) }), func() bool { return d.usage(t).rss <= d.start.rss+returned*factor() })
			t.Logf("%v after %s", d.usage(t), time.Since(start).Round(time.Second))
		}
	})
}

// TestAbortedPosts: a client that does not wait for its answers.
func TestAbortedPosts(t *testing.T) {
	clientTest(t, 150, func(t *testing.T, d *daemon) {
		n := 3000
		if testing.Short() {
			n = 500
		}
		c := newCaller(d)
		defer c.Close()
		require.NoError(t, c.initialize(t.Context()))
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hung__echo","arguments":{"message":"` + strings.Repeat("m", 1000) + `"}}}`
		request := fmt.Sprintf("%sMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", postHead, c.Session, len(body), body)
		for range n {
			_ = sendRaw(t, d, request).Close()
		}
		// The server is not held to be full for longer than the requests last.
		wait.Until(t, "the server takes calls again", func() bool {
			k, text := attempt(d, "hung", 0)
			return k == failed && strings.Contains(text, "in")
		})
	})
}

// TestUnreadAnswers: clients that ask and do not read.
func TestUnreadAnswers(t *testing.T) {
	clientTest(t, 300, func(t *testing.T, d *daemon) {
		message := strings.Repeat("m", 256<<10)
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","arguments":{"message":"` + message + `"}}}`
		request := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", postHead, len(body), body)
		var all []net.Conn
		for range 20 {
			c := sendRaw(t, d, "")
			all = append(all, c)
			go func() { // until the other side takes no more, or the connection is closed
				for range 20 {
					if _, err := io.WriteString(c, request); err != nil {
						return
					}
				}
			}()
		}
		for range 20 {
			if k, text := attempt(d, "good", 0); k != right {
				t.Errorf("got %s: %s", k, text)
			}
		}
		for _, c := range all {
			_ = c.Close()
		}
	})
}

// TestUnreadStreams: sessions whose streams nobody reads, while there is much
// to tell them.
func TestUnreadStreams(t *testing.T) {
	t.Parallel()
	d := serve(t, wire.Servers{"good": hostileEntry("good", ""), "loud": hostileEntry("loud", "flood-changes")})
	g := startCallers(t, d, "good", 2, 5*time.Millisecond)
	for range 50 {
		c := newCaller(d)
		require.NoError(t, c.initialize(t.Context()))
		c.Close()
		sendRaw(t, d, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+c.Session+"\r\n"+wire.Credential()+"\r\n")
	}
	for range 20 {
		if k, text := attempt(d, "loud", 0); k != right {
			t.Errorf("got %s: %s", k, text)
		}
		time.Sleep(50 * time.Millisecond) // so long it is told of changes
	}
	g.finish()
	if u := d.usage(t); u.peak > d.start.peak+100*factor() {
		t.Errorf("memory: %v, at the start %v", u, d.start)
	}
}

// TestManySessions: clients that begin sessions and forget them.
func TestManySessions(t *testing.T) {
	clientTest(t, 120, func(t *testing.T, d *daemon) {
		n := 25_000
		if testing.Short() {
			n = 3000
		}
		var wg sync.WaitGroup
		var left, full atomic.Int64
		left.Store(int64(n))
		first := newCaller(d)
		require.NoError(t, first.initialize(t.Context()))
		for range 8 {
			wg.Go(func() {
				c := newCaller(d)
				defer c.Close()
				for left.Add(-1) >= 0 {
					if err := c.initialize(t.Context()); err != nil && !strings.Contains(err.Error(), "too many sessions") {
						t.Error(err)
						return
					} else if err != nil {
						full.Add(1)
					}
				}
			})
		}
		wg.Wait()
		k, text := first.call(t.Context(), "good", "echo", 0, 0)
		if k != right && (k != refused || !strings.Contains(text, "404")) {
			t.Errorf("the oldest session: got %s: %s", k, text)
		}
		t.Logf("%d sessions refused; the oldest session: %s", full.Load(), k)
	})
}

// TestMalformed: what is no message is refused, with a status and a reason.
func TestMalformed(t *testing.T) {
	clientTest(t, 200, func(t *testing.T, d *daemon) {
		c := newCaller(d)
		defer c.Close()
		require.NoError(t, c.initialize(t.Context()))
		call := func(arguments string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","arguments":` + arguments + `}}`
		}
		for name, body := range map[string]string{
			"empty":                   "",
			"garbage":                 "\x00\xff{",
			"half":                    `{"jsonrpc":"2.0","id":1,"method":"to`,
			"invalid UTF-8":           call(`{"message":"` + "\xff\xfe" + `"}`),
			"deep arrays":             call(strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)),
			"deep and open":           strings.Repeat(`{"a":`, 1<<20),
			"deep metadata":           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":` + strings.Repeat(`{"a":`, 1<<18) + "1" + strings.Repeat("}", 1<<18) + `,"name":"good__echo"}}`,
			"an id that is an object": `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
			"a long id":               `{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 1<<20) + `","method":"ping"}`,
			"a number too far":        `{"jsonrpc":"2.0","id":1e999999,"method":"ping"}`,
			"members twice":           `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
			"a batch":                 `[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 10_000) + `{}]`,
			"no tool":                 call(`{}`)[:60] + `x"}}`,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), requestTimeout+slack)
			res, err := c.Post(ctx, body)
			cancel()
			if err != nil || res.Status >= 500 || res.Message() == "" {
				t.Errorf("%s: %v, status %d, %.100q", name, err, res.Status, res.Message())
			}
		}
		if k, text := c.call(t.Context(), "good", "echo", 0, 0); k != right {
			t.Errorf("afterwards: %s %s", k, text)
		}
	})
}

// TestGuessedSessions: a session that is not there is none, whatever is asked
// of it.
func TestGuessedSessions(t *testing.T) {
	clientTest(t, 60, func(t *testing.T, d *daemon) {
		c := newCaller(d)
		defer c.Close()
		for i := range 1000 {
			c.Session = fmt.Sprint("guess", i)
			if k, text := c.call(t.Context(), "good", "echo", 0, 0); k != refused || !strings.HasPrefix(text, "404") {
				t.Fatalf("got %s: %s", k, text)
			}
		}
	})
}

// TestDeletedInMidCall: a session that ends takes its calls with it, and
// nobody else's.
func TestDeletedInMidCall(t *testing.T) {
	clientTest(t, 60, func(t *testing.T, d *daemon) {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				c := newCaller(d)
				defer c.Close()
				if err := c.initialize(t.Context()); err != nil {
					t.Error(err)
					return
				}
				answered := make(chan kind, 1)
				go func() {
					k, text := c.call(context.WithoutCancel(t.Context()), "good", "slow", 1000, 0)
					if k != right && k != refused && k != failed {
						t.Errorf("got %s: %s", k, text)
					}
					answered <- k
				}()
				time.Sleep(20 * time.Millisecond) // most have begun by then; either order is one to survive
				if err := c.End(t.Context()); err != nil {
					t.Error(err)
					return
				}
				<-answered
			})
		}
		wg.Wait()
	})
}

// TestPipelined: a client that sends a great many requests over one connection
// before it reads the first answer.
func TestPipelined(t *testing.T) {
	clientTest(t, 100, func(t *testing.T, d *daemon) {
		n := 20_000
		if testing.Short() {
			n = 3000
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"good__echo","arguments":{"message":"p"}}}`
		request := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", postHead, len(body), body)
		c := sendRaw(t, d, "")
		go func() {
			for range n {
				if _, err := io.WriteString(c, request); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		time.Sleep(500 * time.Millisecond) // so long nothing is read
		_ = c.SetReadDeadline(wait.Deadline(t))
		r := bufio.NewReader(c)
		for i := range n {
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if k, _ := check(string(text), "1", "good: p"); err != nil || k != right {
				t.Fatalf("answer %d: %v %s", i, err, text)
			}
		}
	})
}
