package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// hourly is an authenticator whose credentials are durations since it was made: they end then. All
// are those of one principal.
type hourly struct{ made time.Time }

func (d hourly) Who(_ context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	p := &access.Principal{ID: "p|ann", Name: c.Bearer}
	switch after, err := time.ParseDuration(c.Bearer); {
	case c.Bearer == "never":
	case err != nil:
		return nil, access.ErrNoCredential
	default:
		p.Expires = d.made.Add(after)
	}
	if p.Expired(time.Now()) {
		return nil, access.ErrExpired
	}
	return p, nil
}

func (hourly) Challenge(*access.Refusal) string { return "" }

// end is how a stream has ended.
type end struct {
	at   time.Duration // since the authenticator was made
	text string
}

// follow reads a stream to its end.
func (d hourly) follow(r *reply, to chan<- end) {
	all, _ := io.ReadAll(r.body) // fails at the end of the test
	to <- end{time.Since(d.made), string(all)}
}

// TestStreamsExpire: each stream ends with the credential of the request that opened it,
// whatever the session began with, and what comes after goes to the next.
func TestStreamsExpire(t *testing.T) {
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	in := func(credential string, more ...string) []string {
		return append([]string{"Authorization", "Bearer " + credential}, more...)
	}
	for name, open := range map[string]func(m *inMemory, session, credential string) *reply{
		"GET": func(m *inMemory, session, credential string) *reply {
			return m.do(http.MethodGet, "/mcp", "", in(credential, "Mcp-Session-Id", session)...)
		},
		"listen": func(m *inMemory, _, credential string) *reply {
			return m.do(http.MethodPost, "/mcp", listen, in(credential, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")...)
		},
		"SSE": func(m *inMemory, _, credential string) *reply {
			return m.do(http.MethodGet, "/sse", "", in(credential)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := hourly{time.Now()}
				m := handler(t, proxy.Options{}, proxy.HTTPOptions{Authenticator: d}, nil)
				opened := m.post("", hello("2025-11-25"), in("5m")...)
				session := opened.head.Get("Mcp-Session-Id")
				_ = opened.all()
				ends := make(chan end, 3)
				for _, credential := range []string{"5m", "1h", "never"} {
					r := open(m, session, credential)
					if r.status != http.StatusOK {
						t.Fatalf("%s: got %d", credential, r.status)
					}
					go d.follow(r, ends)
				}
				for _, want := range []time.Duration{5 * time.Minute, time.Hour} {
					if got := <-ends; got.at != want {
						t.Errorf("a stream has ended after %s, want %s", got.at, want)
					}
				}
				if r := open(m, session, "1h"); r.status != http.StatusUnauthorized {
					t.Errorf("with what has ended: got %d", r.status)
				}
				time.Sleep(time.Hour)
				select {
				case got := <-ends:
					t.Errorf("a stream whose credential never ends has ended after %s", got.at)
				default:
				}
			})
		})
	}
}

// TestAnswersOutliveTheCredential: a call that was begun is answered, on the stream of
// HTTP+SSE, too, which ends after that; and no other is begun.
func TestAnswersOutliveTheCredential(t *testing.T) {
	slow := func(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
		select {
		case <-time.After(100 * time.Second):
			return json.RawMessage(`{"content":[{"type":"text","text":"late"}]}`), nil
		case <-ctx.Done():
			return nil, errors.New("cancelled")
		}
	}
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a__x"}}`
	in := []string{"Authorization", "Bearer 1m"}
	t.Run("POST", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{Authenticator: hourly{time.Now()}}, slow)
			opened := m.post("", hello("2025-11-25"), in...)
			_ = opened.all()
			if got := m.post(opened.head.Get("Mcp-Session-Id"), call, in...).all(); !strings.Contains(got, "late") {
				t.Errorf("got %s", got)
			}
		})
	})
	t.Run("SSE", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := hourly{time.Now()}
			m := handler(t, proxy.Options{}, proxy.HTTPOptions{Authenticator: d}, slow)
			stream := m.do(http.MethodGet, "/sse", "", in...)
			path := string(stream.next().Data)
			send := func(credential, body string) int {
				r := m.do(http.MethodPost, path, body, "Authorization", "Bearer "+credential)
				_ = r.all()
				return r.status
			}
			if got := send("1m", hello("2024-11-05")); got != http.StatusAccepted {
				t.Fatalf("got %d", got)
			}
			_ = stream.message(`"id":1`)
			if got := send("1m", call); got != http.StatusAccepted {
				t.Fatalf("got %d", got)
			}
			ends := make(chan end, 1)
			go d.follow(stream, ends)
			time.Sleep(61 * time.Second)
			if got := send("1m", call); got != http.StatusUnauthorized {
				t.Errorf("with what has ended: got %d", got)
			}
			if got := send("1h", call); got != http.StatusNotFound {
				t.Errorf("a call on a stream that is to end: got %d", got)
			}
			if got := <-ends; got.at != 100*time.Second || !strings.Contains(got.text, "late") {
				t.Errorf("ended after %s with %s", got.at, got.text)
			}
		})
	})
}

// TestNewerCredential: a request's own credential counts, not that of its session.
func TestNewerCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		d := hourly{time.Now()}
		b := newPool(map[string]*runtimetest.Server{"a": runtimetest.New()})
		b.plain = true
		p, err := proxy.NewAllowed(proxy.Options{Servers: []proxy.Server{{Name: "a", PerPrincipal: true}}, Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			seen = append(seen, key.Principal.Name)
			return b.dial(ctx, key, h)
		}})
		require.NoError(t, err)
		f := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
		defer func() { f.Close(); _ = p.Close() }()
		m := &inMemory{t: t, p: p, handler: f}
		opened := m.post("", hello("2025-11-25"), "Authorization", "Bearer 1m")
		_ = opened.all()
		_ = m.post(opened.head.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Authorization", "Bearer 1h").all()
		if len(seen) != 1 || seen[0] != "1h" {
			t.Errorf("connected with the credentials of %q", seen)
		}
	})
}
