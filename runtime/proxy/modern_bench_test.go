package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// instant is a modern server in memory that answers at once.
type instant struct{ list, result json.RawMessage }

func (s instant) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "tools/list" {
		return s.list, nil
	}
	return s.result, nil
}
func (s instant) Notify(context.Context, *runtime.Request) error { return nil }
func (s instant) Close() error                                   { return nil }

// BenchmarkModern is a tools/call of a modern HTTP client to a modern server,
// without the network on either side.
func BenchmarkModern(b *testing.B) {
	s := instant{
		json.RawMessage(`{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`),
		json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", 512) + `"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`),
	}
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("s"), Info: runtime.Implementation{Name: "mcpctl", Version: "1"},
		Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2026-07-28", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		},
	})
	require.NoError(b, err)
	defer func() { _ = p.Close() }()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true})
	defer handler.Close()
	body, head := request("1", "tools/call", `{"name":"s__echo","arguments":{"message":"`+strings.Repeat("x", 512)+`"}}`, `{"elicitation":{"form":{}}}`, "")
	call := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = head
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	if got := call().Body.String(); !strings.Contains(got, "xxx") {
		b.Fatal(got)
	}
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}
