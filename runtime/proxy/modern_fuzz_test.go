package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// FuzzModernHTTP: whatever is sent as a request of the stateless era, the answer
// has a status that the specification names, is one JSON-RPC message where it is
// JSON, and carries no session.
func FuzzModernHTTP(f *testing.F) {
	s := instant{
		json.RawMessage(`{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`),
		json.RawMessage(`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}`),
	}
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("s"), NoPrefix: true, Info: runtime.Implementation{Name: "mcpctl", Version: "1"},
		Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2026-07-28", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		},
	})
	require.NoError(f, err)
	f.Cleanup(func() { _ = p.Close() })
	handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true})
	f.Cleanup(handler.Close)
	for _, params := range []string{`{"name":"echo","arguments":{"a":"x"}}`, `{"name":"echo","arguments":{"a":null},"inputResponses":{"k":{}},"requestState":"x"}`, `{"cursor":"x"}`, `{}`, `{"uri":"x:y"}`} {
		for _, method := range []string{"tools/call", "tools/list", "resources/read", "server/discover", "completion/complete", "nope"} {
			body, head := request("1", method, params, `{"elicitation":{}}`, `,"io.modelcontextprotocol/logLevel":"info"`)
			f.Add(body, head.Get("Mcp-Method"), head.Get("Mcp-Name"), "x")
		}
	}
	f.Fuzz(func(t *testing.T, body, method, name, param string) {
		if strings.Contains(body, "subscriptions/listen") || strings.Contains(method, "listen") || strings.Contains(body, `\u`) {
			t.Skip("a listen does not end")
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Mcp-Name": {name}, "Mcp-Param-A": {param}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 202, 400, 404, 413}, w.Code) {
			t.Errorf("status %d", w.Code)
		}
		if w.Header().Get("Mcp-Session-Id") != "" {
			t.Error("a session")
		}
		if w.Header().Get("Content-Type") == "application/json" {
			var m struct{ Result, Error json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || (m.Result == nil) == (m.Error == nil) {
				t.Errorf("no JSON-RPC answer: %v %s", err, w.Body)
			}
		}
	})
}
