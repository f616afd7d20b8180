package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// sseClient is a client of the HTTP+SSE transport.
type sseClient struct {
	*reply
	m  *inMemory
	to string // where it posts to
}

func (m *inMemory) sse() *sseClient {
	m.t.Helper()
	r := m.do(http.MethodGet, "/sse", "")
	first := r.next()
	to := string(first.Data)
	if r.head.Get("Content-Type") != "text/event-stream" || first.Name != "endpoint" || !strings.HasPrefix(to, "/messages?sessionId=") {
		m.t.Fatalf("got %v %+v", r.head, first)
	}
	return &sseClient{r, m, to}
}

func (c *sseClient) send(body string) int {
	c.t.Helper()
	r := c.m.do(http.MethodPost, c.to, body)
	if text := r.all(); r.status == 202 && text != "" {
		c.t.Errorf("a POST was answered with %s", text)
	}
	return r.status
}

func (c *sseClient) hello(version string) {
	c.t.Helper()
	c.send(hello(version))
	c.message(`"protocolVersion":"` + version + `"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func sseCall(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":7}}}`, id)
}

// TestSSEFront: everything comes on the one stream, each client's on its own.
func TestSSEFront(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
				progress(ctx, req, 1)
				note("notifications/message", `{"level":"info","data":1.0}`)(ctx, req)
				return asker(ctx, req)
			})
			c, other := m.sse(), m.sse()
			c.hello(version)
			other.hello(version)
			if status := c.send(sseCall(5)); status != 202 {
				t.Errorf("got %d", status)
			}
			if got := string(c.message("notifications/progress").Data); !strings.Contains(got, `"progressToken":7`) {
				t.Errorf("got %s", got)
			}
			c.message(`"data":1.0`)
			question := idOf(t, c.message("roots/list").Data)
			other.send(`{"jsonrpc":"2.0","id":` + question + `,"result":{"roots":"another's"}}`)
			c.send(`{"jsonrpc":"2.0","id":` + question + `,"result":{"roots":[1.0]}}`)
			if got := c.message(`"id":5,"result":{"content":[],"got":{"roots":[1.0]}}`); got.Name != "message" || got.ID != "" {
				t.Errorf("got %+v", got)
			}
			c.send(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
			c.message(`{"jsonrpc":"2.0","id":"l","result":{"tools":`)
			c.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
			c.message(`{"jsonrpc":"2.0","id":6,"result":{}}`)
			m.back.offer(`{"tools":[]}`)
			m.back.handler.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
			c.message("notifications/tools/list_changed")
			other.message("notifications/tools/list_changed")
			c.hangUp()
			other.hangUp()
		})
	}
}

// TestSSECancel: by message, and by the end of the stream, which is that of the
// session.
func TestSSECancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{}, 1)
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			progress(ctx, req, 1)
			<-ctx.Done()
			ended <- struct{}{}
			return nil, ctx.Err()
		})
		c := m.sse()
		c.hello("2024-11-05")
		c.send(sseCall(5))
		c.message("notifications/progress")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
		<-ended
		c.send(sseCall(6))
		c.message("notifications/progress") // and no answer to the first
		c.hangUp()
		<-ended
		if status := c.send(sseCall(7)); status != 404 {
			t.Errorf("after the stream: got %d", status)
		}
	})
}

// TestSSERefusals: what is no message of a session gets a status of its own.
func TestSSERefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{MaxBody: 1000}, func(context.Context, *runtime.Request) (json.RawMessage, error) { return done, nil })
		c := m.sse()
		c.hello("2024-11-05")
		for name, tt := range map[string]struct {
			method, path, body string
			headers            []string
			status             int
		}{
			"no session":      {"POST", "/messages", `{}`, nil, 400},
			"unknown session": {"POST", "/messages?sessionId=x", `{}`, nil, 404},
			"rubbish":         {"POST", c.to, `rubbish`, nil, 400},
			"no message":      {"POST", c.to, `{}`, nil, 400},
			"batch":           {"POST", c.to, `[` + sseCall(1) + `]`, nil, 400},
			"too large":       {"POST", c.to, `{"x":"` + strings.Repeat("x", 1000) + `"}`, nil, 413},
			"content type":    {"POST", c.to, sseCall(1), []string{"Content-Type", "text/plain"}, 415},
			"origin":          {"POST", c.to, sseCall(1), []string{"Origin", "https://evil.example.com"}, 403},
			"method":          {"GET", c.to, "", nil, 405},
			"POST the stream": {"POST", "/sse", hello("2024-11-05"), nil, 405},
			"stream origin":   {"GET", "/sse", "", []string{"Origin", "https://evil.example.com"}, 403},
			"stream accept":   {"GET", "/sse", "", []string{"Accept", "application/json"}, 406},
		} {
			if r := m.do(tt.method, tt.path, tt.body, tt.headers...); r.status != tt.status {
				t.Errorf("%s: got %d, want %d", name, r.status, tt.status)
			}
		}
		c.hangUp()
		old := m.sse()
		old.hello("2025-03-26")
		old.send(`[` + sseCall(1) + `,` + sseCall(2) + `]`)
		old.message(`[{"jsonrpc":"2.0","id":1,"result":`)
		old.hangUp()
	})
}

// TestSSEFullQueue: a client that takes no answers has its session ended five
// seconds after the queue is full.
func TestSSEFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(context.Context, *runtime.Request) (json.RawMessage, error) { return done, nil })
		c := m.sse()
		c.hello("2024-11-05")
		start := time.Now()
		n := 0
		for ; n < 1000; n++ {
			if status := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, n)); status != 202 {
				if status != 503 {
					t.Errorf("got %d", status)
				}
				break
			}
		}
		if d := time.Since(start); n != 256 || d != 5*time.Second {
			t.Errorf("the session ended after %d messages and %v", n, d)
		}
		time.Sleep(2 * time.Second) // for the write that nobody takes
		if status := c.send(`{"jsonrpc":"2.0","method":"notifications/x"}`); status != 404 {
			t.Errorf("got %d", status)
		}
	})
}

// TestSSEPings: comments keep the way open and never wait; a client that reads
// nothing for long is given up.
func TestSSEPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		m := handler(t, proxy.Options{RequestTimeout: -1}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			for {
				select {
				case <-time.After(time.Second):
					note("notifications/message", `{"level":"info","data":"x"}`)(ctx, req)
				case <-ctx.Done():
					close(stop)
					return nil, ctx.Err()
				}
			}
		})
		c := m.sse()
		c.hello("2024-11-05")
		quiet := m.sse()
		time.Sleep(31 * time.Second)
		buf := make([]byte, 64)
		if n, err := quiet.body.Read(buf); err != nil || string(buf[:n]) != ": keep-alive\n\n" {
			t.Errorf("got %q, %v", buf[:n], err)
		}
		quiet.hangUp()
		c.hangUp() // a write has waited for it for a while
		c = m.sse()
		c.hello("2024-11-05")
		start := time.Now()
		c.send(sseCall(5))
		go func(body io.Reader) { // it reads, and too little
			for slow := make([]byte, 16); ; time.Sleep(5 * time.Second) { // as time goes in the bubble
				if _, err := body.Read(slow); err != nil {
					return
				}
			}
		}(c.body)
		<-stop // the session has ended, and with it the call
		if d := time.Since(start); d < 4*time.Minute || d > 6*time.Minute {
			t.Errorf("given up after %v", d)
		}
		c.hangUp()
		c = m.sse()
		c.hello("2024-11-05")
		start = time.Now()
		stop = make(chan struct{})
		c.send(sseCall(5))
		<-stop
		if d := time.Since(start); d < 50*time.Second || d > 2*time.Minute {
			t.Errorf("one that reads nothing was given up after %v", d)
		}
		c.hangUp()
	})
}
