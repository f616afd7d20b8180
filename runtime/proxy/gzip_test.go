package proxy_test

import (
	"cmp"
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
		peer             string // "" for one on another machine
		off              bool
	}{
		{"large", "gzip", "application/json, text/event-stream", names, false, true, "", false},
		{"large, stateless", "gzip", "application/json, text/event-stream", names, true, true, "", false},
		{"among others", "br;q=1.0, GZIP;q=0.8, *;q=0.1", "application/json, text/event-stream", names, true, true, "", false},
		{"any", "*", "application/json, text/event-stream", names, true, true, "", false},
		{"refused", "gzip;q=0, *", "application/json, text/event-stream", names, true, false, "", false},
		{"another", "br", "application/json, text/event-stream", names, true, false, "", false},
		{"not asked for", "", "application/json, text/event-stream", names, true, false, "", false},
		{"small", "gzip", "application/json, text/event-stream", names[:3], true, false, "", false},
		{"1 KiB", "gzip", "application/json, text/event-stream", names[:20], true, true, "", false},
		{"this machine", "gzip", "application/json, text/event-stream", names, true, false, "127.0.0.1:1", false},
		{"this machine, IPv6", "gzip", "application/json, text/event-stream", names, true, false, "[::1]:1", false},
		{"this machine, mapped", "gzip", "application/json, text/event-stream", names, false, false, "[::ffff:127.0.0.1]:1", false},
		{"a socket", "gzip", "application/json, text/event-stream", names, true, false, "@", false},
		{"another machine, IPv6", "gzip", "application/json, text/event-stream", names, true, true, "[2001:db8::1]:1", false},
		{"off", "gzip", "application/json, text/event-stream", names, true, false, "", true},
		{"events", "gzip", "text/event-stream", names, true, false, "", false},
		{"events, handshake era", "gzip", "text/event-stream", names, false, false, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: stubs{"a": simple(tt.tools...)}.dial, PageSize: -1})
			require.NoError(t, err)
			defer func() { _ = p.Close() }()
			handler := p.NewHTTPHandler(proxy.HTTPOptions{NoCompression: tt.off})
			s := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.RemoteAddr = cmp.Or(tt.peer, "192.0.2.1:40000")
				handler.ServeHTTP(w, r)
			}))
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
