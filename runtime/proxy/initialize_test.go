package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// again is a second initialize, whose client declares nothing.
const again = `{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"other","version":"2"}}}`

// TestInitializeTwice: a session has one handshake. A second one is refused and
// changes nothing: neither is another session begun, nor are the client's
// capabilities replaced.
func TestInitializeTwice(t *testing.T) {
	asks := func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
		if _, err := req.Events.Request(ctx, req, "roots/list", nil); err != nil {
			return nil, err
		}
		return done, nil
	}
	t.Run("http", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asks)
			id := m.session("2025-11-25")
			for _, version := range []string{"", "2025-11-25"} {
				r := m.post(id, again, "Mcp-Protocol-Version", version)
				if text := r.all(); r.status != 400 || !strings.HasPrefix(text, `{"jsonrpc":"2.0","id":2,"error":{"code":-32600,`) || r.head.Get("Mcp-Session-Id") != "" {
					t.Errorf("with version %q: got %d %v %s", version, r.status, r.head, text)
				}
			}
			if n := sessionsOf(m.p); n != 1 {
				t.Errorf("there are %d sessions, want 1", n)
			}
			r := m.call(id, "5")
			q := r.message(`"method":"roots/list"`) // it can still be asked
			m.post(id, `{"jsonrpc":"2.0","id":`+idOf(t, q.Data)+`,"result":{"roots":[]}}`)
			r.message(`"id":5,"result"`)
			// What clients do whose session is unknown: they begin again without it.
			if r := m.post("unknown", again); r.status != 404 {
				t.Errorf("in an unknown session: got %d", r.status)
			}
			if other := m.session("2025-11-25"); other == id {
				t.Error("a new handshake without a session has given the old one")
			}
			if r := m.do("DELETE", "/mcp", "", "Mcp-Session-Id", id); r.status != 204 {
				t.Errorf("DELETE: got %d", r.status)
			}
			if r := m.post(id, again); r.status != 404 {
				t.Errorf("after DELETE: got %d", r.status)
			}
		})
	})
	t.Run("sse", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asks)
			c := m.sse()
			// One that is refused settles nothing.
			c.send(strings.Replace(again, `"capabilities"`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"},"capabilities"`, 1))
			c.message(`"id":2,"error":{"code":-32022`)
			c.hello("2025-11-25")
			c.send(again)
			c.message(`"id":2,"error":{"code":-32600,`)
			c.send(sseCall(5))
			q := c.message(`"method":"roots/list"`)
			c.send(`{"jsonrpc":"2.0","id":` + idOf(t, q.Data) + `,"result":{"roots":[]}}`)
			c.message(`"id":5,"result"`)
			c.hangUp()
		})
	})
	t.Run("sse, at the same time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{}, asks)
			c := m.sse()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { c.send(hello("2025-11-25")) })
			}
			wg.Wait()
			settled := 0
			for range 8 {
				if text := string(c.message(`"id":1,`).Data); strings.Contains(text, `"result"`) {
					settled++
				} else if !strings.Contains(text, `"code":-32600`) {
					t.Errorf("got %s", text)
				}
			}
			if settled != 1 {
				t.Errorf("%d handshakes have settled something, want 1", settled)
			}
			c.hangUp()
		})
	})
	t.Run("stdio", func(t *testing.T) {
		p, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
		const params = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`
		c.result("initialize", params)
		if got := c.call("initialize", strings.Replace(params, `"name":"t"`, `"name":"other"`, 1)); !strings.Contains(got, `"error":{"code":-32600,`) {
			t.Errorf("got %s", got)
		}
		who := p.Status().Clients.Recent[0]
		if who.Name != "t" || who.Revision != "2025-11-25" {
			t.Errorf("the second has replaced the first: %+v", who)
		}
	})
}

func sessionsOf(p *proxy.Proxy) int {
	n := 0
	for _, c := range p.Status().Clients.Recent {
		if c.Transport == "http" {
			n++
		}
	}
	return n
}
