package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
)

// echoHTTP is echoBackend as an HTTP server with sessions.
func echoHTTP(tb testing.TB, result []byte) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m rawjson.Message
		if rawjson.Scan(body, &m) != nil || !m.ID.Present() {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer := result
		switch string(m.Method.Of(body)) {
		case `"initialize"`:
			w.Header().Set("Mcp-Session-Id", "s")
			answer = []byte(shaken)
		case `"server/discover"`:
			answer = []byte(`{}`)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.TrimSpace(jsonrpc.AppendResult(nil, m.ID.Of(body), answer)))
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// httpProxy is a proxy before an echoHTTP.
func httpProxy(tb testing.TB, result []byte) *proxy.Proxy {
	tb.Helper()
	url := echoHTTP(tb, result)
	dial := func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		return proxy.ConnectAs(ctx, key, h, negotiate.Options{HTTP: true, Client: runtime.Implementation{Name: "t", Version: "1"}}, func(h runtime.Handler) (runtime.Transport, error) {
			return transport.NewHTTP(url, transport.HTTPOptions{Handler: h})
		})
	}
	p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: dial, Info: runtime.Implementation{Name: "mcpctl", Version: "1"}})
	require.NoError(tb, err)
	return p
}

// BenchmarkHTTPToHTTP measures calls through the HTTP endpoint to an HTTP server:
// the client, which is next to nothing, the proxy and the server in one process.
func BenchmarkHTTPToHTTP(b *testing.B) {
	for _, era := range []string{"session", "stateless"} {
		b.Run(era, func(b *testing.B) {
			c := newWebPathOf(b, httpProxy(b, fmt.Appendf(nil, pathResult, strings.Repeat("r", 100))), nil, "")
			if era == "stateless" {
				c.modern()
			}
			b.ReportAllocs()
			for b.Loop() {
				c.round()
			}
		})
	}
}

// BenchmarkHTTPFloor is one round over HTTP by net/http alone, both ends in this
// process: what of HTTPToHTTP is none of the proxy's.
func BenchmarkHTTPFloor(b *testing.B) {
	url := echoHTTP(b, fmt.Appendf(nil, pathResult, strings.Repeat("r", 100)))
	rt := &http.Transport{DialContext: (&net.Dialer{}).DialContext, DisableCompression: true}
	defer rt.CloseIdleConnections()
	line := echoLine(100)
	head := http.Header{"Content-Type": {"application/json"}}
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(line))
		require.NoError(b, err)
		req.Header = head
		resp, err := rt.RoundTrip(req)
		require.NoError(b, err)
		_, _ = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
}
