package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// drained begins to drain and gives where the time comes that it took.
func drained(p *proxy.Proxy, bound time.Duration) <-chan time.Duration {
	took := make(chan time.Duration, 1)
	start := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		p.Drain(ctx)
		took <- time.Since(start)
	}()
	synctest.Wait()
	return took
}

// selfContained sends a self-contained request.
func selfContained(m *inMemory, method, members string, headers ...string) *reply {
	m.t.Helper()
	return m.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+modern(`{}`, members)+`}`,
		append(headers, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method)...)
}

// TestDrain lets what is in flight end: a call that asks its client something
// meanwhile, one over HTTP+SSE and one without a session. What is new is turned
// away on every way in, and no stream holds up the end.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			time.Sleep(time.Second)
			if !strings.Contains(string(req.Params), "ask") {
				return done, nil
			}
			return asker(ctx, req)
		})
		id := m.session("2025-11-25")
		m.listen(id, "")
		selfContained(m, "subscriptions/listen", `,"notifications":{"toolsListChanged":true}`)
		old := m.sse()
		old.hello("2024-11-05")
		old.send(sseCall(6))
		replies := make(chan string, 2)
		go func() {
			asks := m.post(id, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a__x","arguments":{"ask":1}}}`)
			asks.next()
			question := idOf(t, asks.next().Data)
			if r := m.post(id, `{"jsonrpc":"2.0","id":`+question+`,"result":{"roots":[]}}`); r.status != http.StatusAccepted {
				t.Errorf("an answer to a question: %d", r.status)
			}
			replies <- string(asks.message(`"result"`).Data)
		}()
		go func() { replies <- m.call("", "7", "Accept", "application/json").all() }()
		time.Sleep(500 * time.Millisecond)
		if !m.p.Ready() {
			t.Error("not ready from the start")
		}
		took := drained(m.p, time.Minute)
		if m.p.Ready() {
			t.Error("still ready")
		}
		for name, r := range map[string]*reply{
			"session":    m.post(id, `{"jsonrpc":"2.0","id":8,"method":"ping"}`),
			"no session": m.post("", `{"jsonrpc":"2.0","id":8,"method":"tools/list"}`),
			"greeting":   m.post("", hello("2025-11-25")),
			"SSE":        m.do(http.MethodPost, old.to, sseCall(8)),
			"modern":     selfContained(m, "tools/list", ""),
		} {
			text := r.all()
			if r.status != http.StatusServiceUnavailable || r.head.Get("Retry-After") == "" || !strings.Contains(text, `"error"`) || !strings.Contains(text, "shutting down") {
				t.Errorf("%s: got %d %s", name, r.status, text)
			}
		}
		for ev := old.next(); !strings.Contains(string(ev.Data), `"id":6,"result"`); ev = old.next() {
			if strings.Contains(string(ev.Data), `"error"`) {
				t.Fatalf("over HTTP+SSE: %s", ev.Data)
			}
		}
		for range 2 {
			if got := <-replies; !strings.Contains(got, `"result"`) {
				t.Errorf("got %s", got)
			}
		}
		if d := <-took; d < 500*time.Millisecond || d > 600*time.Millisecond {
			t.Errorf("it took %v, want the rest of a second", d)
		}
	})
}

// TestDrainWaits for a call that came by each of the ways.
func TestDrainWaits(t *testing.T) {
	for name, call := range map[string]func(m *inMemory){
		"session": func(m *inMemory) { m.call(m.session("2025-11-25"), "1").all() },
		"alone":   func(m *inMemory) { m.call("", "1").all() },
		"modern":  func(m *inMemory) { selfContained(m, "tools/call", `,"name":"a__x"`, "Mcp-Name", "a__x").all() },
		"batch": func(m *inMemory) {
			m.post(m.session("2025-03-26"), `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}]`).all()
		},
		"client that has gone": func(m *inMemory) {
			id := m.session("2025-11-25")
			m.call(id, "1", "Accept", "text/event-stream").hangUp()
		},
		"SSE": func(m *inMemory) {
			c := m.sse()
			c.hello("2025-11-25")
			c.send(sseCall(1))
			for !strings.Contains(string(c.next().Data), `"result"`) { // a change of the list comes first
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(context.Context, *runtime.Request) (json.RawMessage, error) {
					time.Sleep(time.Second)
					return done, nil
				})
				go call(m)
				time.Sleep(300 * time.Millisecond)
				if d := <-drained(m.p, time.Minute); d < 700*time.Millisecond || d > 800*time.Millisecond {
					t.Errorf("it took %v", d)
				}
			})
		})
	}
}

// TestDrainIsBounded gives a call up that does not end.
func TestDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		go m.call("", "1", "Accept", "application/json")
		synctest.Wait()
		if d := <-drained(m.p, 4*time.Second); d != 4*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// TestDrainIdle has nothing to wait for.
func TestDrainIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asker)
		m.session("2025-11-25")
		if d := <-drained(m.p, time.Minute); d > 50*time.Millisecond {
			t.Errorf("it took %v", d)
		}
	})
}

// TestDrainStdio does the same on standard streams.
func TestDrainStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, func(context.Context, *runtime.Request) (json.RawMessage, error) {
			time.Sleep(time.Second)
			return done, nil
		})
		toProxy, in := io.Pipe()
		out, fromProxy := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() {
			served <- m.p.ServeStdio(ctx, toProxy, fromProxy)
			_ = fromProxy.Close()
		}()
		lines := bufio.NewScanner(out)
		send := func(line string) {
			t.Helper()
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		read := func(want string) {
			t.Helper()
			if !lines.Scan() || !strings.Contains(lines.Text(), want) {
				t.Fatalf("got %s, want %s", lines.Text(), want)
			}
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`)
		time.Sleep(300 * time.Millisecond)
		took := drained(m.p, time.Minute)
		send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x"}}`)
		read(`"id":2,"error":{"code":-32603,"message":"the proxy is shutting down"`)
		read(`"id":1,"result"`)
		if d := <-took; d < 700*time.Millisecond || d > 800*time.Millisecond {
			t.Errorf("it took %v", d)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = in.Close()
	})
}
