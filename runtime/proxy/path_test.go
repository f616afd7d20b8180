package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// path is a proxy between a client and a backend on the system's pipes, both
// of which allocate nothing for a call, so that what is counted is the proxy.
type path struct {
	in  *os.File
	out *jsonrpc.LineReader
}

// shaken is what an echoBackend answers to initialize.
const shaken = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`

// echoBackend answers every request with the same result, once it has shaken
// hands.
func echoBackend(r io.Reader, w io.Writer, result []byte) {
	in := jsonrpc.NewLineReader(r, 0)
	var m rawjson.Message
	var out []byte
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		if rawjson.Scan(line, &m) == nil && m.ID.Present() {
			answer := result
			switch string(m.Method.Of(line)) {
			case `"initialize"`:
				answer = []byte(shaken)
			case `"server/discover"`:
				answer = []byte(`{}`)
			}
			out = jsonrpc.AppendResult(out, m.ID.Of(line), answer)
		}
		if !in.Buffered() {
			if _, err := w.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
	}
}

func pipes(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	require.NoError(tb, err)
	return r, w
}

// pathProxy is a proxy before an echoBackend.
func pathProxy(tb testing.TB, result []byte) *proxy.Proxy {
	tb.Helper()
	return pathProxyOf(tb, result, nil)
}

// pathProxyOf is pathProxy with a journal, nil for none.
func pathProxyOf(tb testing.TB, result []byte, j *recording.Journal) *proxy.Proxy {
	tb.Helper()
	return pathProxyBy(tb, result, proxy.Options{Journal: j})
}

func pathProxyBy(tb testing.TB, result []byte, o proxy.Options) *proxy.Proxy {
	tb.Helper()
	dial := func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		return proxy.ConnectAs(ctx, key, h, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}}, func(h runtime.Handler) (runtime.Transport, error) {
			toBackend, w := pipes(tb)
			r, fromBackend := pipes(tb)
			go func() {
				echoBackend(toBackend, fromBackend, result)
				_ = fromBackend.Close()
			}()
			t := newPiped(w, h)
			t.read(r)
			tb.Cleanup(func() { _, _, _ = w.Close(), toBackend.Close(), r.Close() })
			return closeless{t}, nil
		})
	}
	o.Servers, o.Dial, o.Info = proxy.Named("a"), dial, runtime.Implementation{Name: "mcpctl", Version: "1"}
	p, err := proxy.NewAllowed(o)
	require.NoError(tb, err)
	return p
}

// newPath builds the path and takes the first, slow call over it.
func newPath(tb testing.TB, result []byte) *path {
	tb.Helper()
	return newPathOf(tb, pathProxy(tb, result))
}

// newPathOf is newPath of a proxy.
func newPathOf(tb testing.TB, p *proxy.Proxy) *path {
	tb.Helper()
	toProxy, in := pipes(tb)
	out, fromProxy := pipes(tb)
	served := make(chan error, 1)
	go func() { served <- p.ServeStdio(context.Background(), toProxy, fromProxy) }()
	tb.Cleanup(func() {
		_ = in.Close()
		if err := <-served; err != nil {
			tb.Error(err)
		}
		_, _, _ = p.Close(), out.Close(), fromProxy.Close()
	})
	c := &path{in: in, out: jsonrpc.NewLineReader(out, 0)}
	c.round(tb, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"), 1)
	return c
}

// closeless leaves closing to the test's own cleanup.
type closeless struct{ *piped }

func (closeless) Close() error { return nil }

// round sends lines and reads as many answers. While the server is met, the news that its
// list has changed may come in front of one.
func (c *path) round(tb testing.TB, lines []byte, n int) {
	if _, err := c.in.Write(lines); err != nil {
		tb.Fatal(err)
	}
	for n > 0 {
		line, err := c.out.Next()
		if string(line) == `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
			continue
		}
		n--
		if err != nil || !bytes.Contains(line, []byte(`"result"`)) {
			tb.Fatalf("%v: %s", err, line)
		}
	}
}

const pathResult = `{"tools":[{"name":"echo"}],"content":[{"type":"text","text":"%s"}]}`

func echoLine(size int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"a__echo","arguments":{"text":"%s"}}}`+"\n", strings.Repeat("a", size))
}

// julyEcho is echoLine of the stateless era.
func julyEcho(size int) []byte {
	return []byte(julyLine(`9007199254740993`, "tools/call", `{"name":"a__echo","arguments":{"text":"`+strings.Repeat("a", size)+`"}}`, `{}`, "") + "\n")
}

// BenchmarkPathModern measures calls of the stateless era to a server of the
// handshake era.
func BenchmarkPathModern(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			c := newPath(b, fmt.Appendf(nil, pathResult, strings.Repeat("r", 512)))
			lines := bytes.Repeat(julyEcho(512), callers)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%callers == 0 {
					c.round(b, lines, callers)
				}
			}
		})
	}
}

// BenchmarkPath measures calls through the proxy, both ends in this process,
// by size of the argument and the result and by calls in flight.
func BenchmarkPath(b *testing.B) {
	for _, size := range []int{512, 4 << 10, 64 << 10} {
		for _, callers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("size=%d/callers=%d", size, callers), func(b *testing.B) {
				c := newPath(b, fmt.Appendf(nil, pathResult, strings.Repeat("r", size)))
				// The client writes no more at once than pipes hold, or all
				// ends would wait for each other.
				most := min(callers, max(1, 32<<10/size))
				lines := bytes.Repeat(echoLine(size), most)
				b.SetBytes(int64(2 * size))
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					if n%most == 0 {
						c.round(b, lines, most)
					}
				}
			})
		}
	}
}

// BenchmarkPathHook is a call without a hook, with a rule, and with a server that looks into it,
// all ends in this process.
func BenchmarkPathHook(b *testing.B) {
	r, err := proxy.NewRule(proxy.HookRule{Name: "rule", In: proxy.InArguments, Pattern: regexp.MustCompile("zebra"), Action: proxy.Block})
	require.NoError(b, err)
	for _, row := range []struct {
		name string
		hook func(b *testing.B) proxy.Hook
	}{
		{"none", nil},
		{"rule", func(*testing.B) proxy.Hook { return r }},
		{"server", serverHook},
	} {
		b.Run(row.name, func(b *testing.B) {
			p := pathProxy(b, fmt.Appendf(nil, pathResult, strings.Repeat("r", 512)))
			if row.hook != nil {
				require.NoError(b, p.SetHooks(hookNamed("h", row.hook(b))))
			}
			c := newPathOf(b, p)
			line := echoLine(512)
			b.ReportAllocs()
			for b.Loop() {
				c.round(b, line, 1)
			}
		})
	}
}

// serverHook is a server with an interceptor that lets all pass.
func serverHook(b *testing.B) proxy.Hook {
	b.Helper()
	const result = `{"interceptors":[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}],"valid":true}`
	p := pathProxyBy(b, []byte(result), proxy.Options{Single: true})
	b.Cleanup(func() { _ = p.Close() })
	h, err := proxy.NewServerHook(proxy.ServerHook{Server: "a", Timeout: time.Minute}, func(ctx context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
		return p.Ask(ctx, method, params)
	})
	require.NoError(b, err)
	return h
}

// webPath is a proxy behind its HTTP endpoint, without a server: what is counted
// is what the endpoint does.
type webPath struct {
	handler *proxy.HTTPHandler
	token   string // "" where nobody is asked for one
	body    *bytes.Reader
	req     *http.Request
	w       discarded
}

// discarded is a response that only tells how long it is.
type discarded struct {
	head http.Header
	n    int
}

func (c *discarded) Header() http.Header { return c.head }
func (c *discarded) WriteHeader(int)     {}
func (c *discarded) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}

func newWebPath(tb testing.TB, result []byte) *webPath {
	tb.Helper()
	return newWebPathOf(tb, pathProxy(tb, result), nil, "")
}

// newAskingPath is newWebPath behind an authenticator.
func newAskingPath(tb testing.TB) *webPath {
	tb.Helper()
	d, alice, _, _, _ := newAuthenticator(tb)
	return newWebPathOf(tb, pathProxy(tb, fmt.Appendf(nil, pathResult, "r")), d, alice)
}

// newWebPathOf is a client of a proxy, behind an authenticator with its token; nil and "" for none.
func newWebPathOf(tb testing.TB, p *proxy.Proxy, d proxy.Authenticator, token string) *webPath {
	tb.Helper()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
	tb.Cleanup(func() {
		handler.Close()
		_ = p.Close()
	})
	c := &webPath{handler: handler, token: token, w: discarded{head: http.Header{}}}
	c.send(tb, []byte(hello("2025-11-25")))
	session := c.w.head.Get("Mcp-Session-Id")
	c.send(tb, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	line := echoLine(100)
	c.body = bytes.NewReader(line)
	c.req = httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", c.body)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session,
	} {
		c.req.Header.Set(name, value)
	}
	c.authorize(c.req)
	return c
}

// authorize adds the token to a request, if there is one.
func (c *webPath) authorize(r *http.Request) {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
}

// modern has the next rounds be of the stateless era.
func (c *webPath) modern() {
	line := julyEcho(100)
	_, head := request("1", "tools/call", `{"name":"a__echo"}`, `{}`, "")
	c.body = bytes.NewReader(line)
	c.req = httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", c.body)
	c.req.Header = head
	c.authorize(c.req)
}

func (c *webPath) send(tb testing.TB, body []byte) {
	tb.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	c.authorize(r)
	c.handler.ServeHTTP(&c.w, r)
}

func (c *webPath) round() {
	_, _ = c.body.Seek(0, io.SeekStart)
	c.handler.ServeHTTP(&c.w, c.req)
}

// BenchmarkHTTP measures one call at a time through the HTTP endpoint.
func BenchmarkHTTP(b *testing.B) {
	for _, kind := range []string{"session", "stateless", "session-asked", "stateless-asked"} {
		b.Run(kind, func(b *testing.B) {
			era, _, asked := strings.Cut(kind, "-")
			c := newWebPath(b, fmt.Appendf(nil, pathResult, "r"))
			if asked {
				c = newAskingPath(b)
			}
			if era == "stateless" {
				c.modern()
			}
			b.ReportAllocs()
			for b.Loop() {
				c.round()
			}
			if c.w.n < 50*b.N {
				b.Errorf("%d bytes for %d calls", c.w.n, b.N)
			}
		})
	}
}
