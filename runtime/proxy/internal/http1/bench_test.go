package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// BenchmarkServe is a request and its answer over TCP, served here and by net/http
// alone. The client allocates nothing.
func BenchmarkServe(b *testing.B) {
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header()["Content-Type"] = []string{"application/json"}
		_, _ = w.Write(answer)
	})
	text := []byte(post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Mcp-Session-Id: ABCDEFGHIJKLMNOPQRSTUVWXYZ", "Mcp-Protocol-Version: 2025-11-25", "User-Agent: bench", "Accept-Encoding: gzip"))
	run := func(name string, serve func(*http.Server, net.Listener)) {
		b.Run(name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b, err)
			serve(&http.Server{Handler: handler}, l)
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(b, err)
			defer c.Close()
			in := bufio.NewReader(c)
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Write(text)
				require.NoError(b, err)
				for { // up to the empty line
					line, err := in.ReadSlice('\n')
					require.NoError(b, err)
					if len(line) == 2 {
						break
					}
				}
				_, err = in.Discard(len(answer))
				require.NoError(b, err)
			}
		})
	}
	run("http1", func(srv *http.Server, l net.Listener) {
		s := New(srv)
		go s.Serve(l)
		b.Cleanup(func() { _ = s.Close() })
	})
	run("net", func(srv *http.Server, l net.Listener) {
		go srv.Serve(l)
		b.Cleanup(func() { _ = srv.Close() })
	})
}
