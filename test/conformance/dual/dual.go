// Package dual serves one MCP server of the Go SDK to clients of both protocol
// eras at one URL: what makes the SDK's everything-server, which takes one era
// a process, pass all four revisions of the conformance suite.
package dual

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve serves server at addr, whose port may be 0, until it fails, and prints
// "URL http://ADDR/" to standard output once the port is open. Requests of
// 2026-07-28 go to modern, those with a handshake to sessions that have an
// event store. HTTP+SSE (2024-11-05) is at /sse.
func Serve(addr string, server *mcp.Server, modern http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("URL http://%s/\n", l.Addr())
	return http.Serve(l, handler(server, modern))
}

func handler(server *mcp.Server, modern http.Handler) http.Handler {
	get := func(*http.Request) *mcp.Server { return server }
	sse := mcp.NewSSEHandler(get, nil)
	// Without an event store the server cannot ask a client to poll.
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/sse"):
			sse.ServeHTTP(w, r)
		case r.Header.Get("Mcp-Session-Id") != "", r.Header.Get("Mcp-Protocol-Version") < "2026":
			sessions.ServeHTTP(w, r)
		default:
			modern.ServeHTTP(w, r)
		}
	})
}
