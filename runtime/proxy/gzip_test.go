package proxy_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestHTTPGzip: a large answer as JSON is compressed for clients that take it so, in
// either era, and is the same text; nothing else is.
func TestHTTPGzip(t *testing.T) {
	names := make([]string, 3000)
	for i := range names {
		names[i] = fmt.Sprint("tool", i)
	}
	for _, tt := range []struct {
		name             string
		encoding, accept string
		tools            []string
		modern, gzip     bool
	}{
		{"large", "gzip", "application/json, text/event-stream", names, false, true},
		{"large, stateless", "gzip", "application/json, text/event-stream", names, true, true},
		{"among others", "br;q=1.0, GZIP;q=0.8, *;q=0.1", "application/json, text/event-stream", names, true, true},
		{"any", "*", "application/json, text/event-stream", names, true, true},
		{"refused", "gzip;q=0, *", "application/json, text/event-stream", names, true, false},
		{"another", "br", "application/json, text/event-stream", names, true, false},
		{"not asked for", "", "application/json, text/event-stream", names, true, false},
		{"small", "gzip", "application/json, text/event-stream", names[:3], true, false},
		{"events", "gzip", "text/event-stream", names, true, false},
		{"events, handshake era", "gzip", "text/event-stream", names, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: stubs{"a": simple(tt.tools...)}.dial, PageSize: -1})
			require.NoError(t, err)
			defer func() { _ = p.Close() }()
			handler := p.NewHTTPHandler(proxy.HTTPOptions{})
			s := serveHTTP(t, handler)
			defer s.close()
			defer handler.Close()
			url := s.url
			ask := func(encoding string) (*http.Response, string) {
				body, head := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.Header{"Content-Type": {"application/json"}}
				if tt.modern {
					body, head = request("1", "tools/list", `{}`, `{}`, "")
				}
				head.Set("Accept", tt.accept)
				if encoding != "" {
					head.Set("Accept-Encoding", encoding)
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
				require.NoError(t, err)
				req.Header = head
				hc := http.Client{Transport: &http.Transport{DisableCompression: true}}
				defer hc.CloseIdleConnections()
				resp, err := hc.Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				var text io.Reader = resp.Body
				if resp.Header.Get("Content-Encoding") == "gzip" {
					text, err = gzip.NewReader(resp.Body)
					require.NoError(t, err)
				}
				got, err := io.ReadAll(text)
				require.NoError(t, err)
				return resp, string(got)
			}
			resp, got := ask(tt.encoding)
			if is := resp.Header.Get("Content-Encoding") == "gzip"; is != tt.gzip || resp.StatusCode != http.StatusOK {
				t.Errorf("status %d, %v", resp.StatusCode, resp.Header)
			}
			if _, plain := ask(""); got != plain || strings.Count(got, `"name":`) < len(tt.tools) {
				t.Errorf("got %d bytes, plain %d", len(got), len(plain))
			}
		})
	}
}
