package proxy

import (
	"context"
	"net"
	"net/http"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/http1"
)

// HTTPServer serves the handlers of a proxy over HTTP without TLS. A POST on a kept-alive
// HTTP/1.1 connection, which is what nearly all requests are, takes a shorter
// way than through an [http.Server], with the same checks of Host and Origin. Everything
// else takes that. It is safe for concurrent use.
type HTTPServer struct{ server *http1.Server }

// NewHTTPServer returns a server in front of another, whose handler, timeouts, and error
// log are for both. Handlers must not change a request's header or URL. The hooks of srv
// (BaseContext, ConnContext, ConnState) are not called on the shorter way, and its
// WriteTimeout does not hold there: the endpoints bound writes themselves. Only
// the HTTPServer's own methods serve and end both.
func NewHTTPServer(srv *http.Server) *HTTPServer { return &HTTPServer{http1.New(srv)} }

// Serve serves the connections of a listener until Shutdown or Close, and returns what
// [http.Server.Serve] does.
func (s *HTTPServer) Serve(l net.Listener) error { return s.server.Serve(l) }

// Shutdown closes listeners and connections without a request, and returns when the
// requests under way have been answered or ctx has ended, which is its error.
func (s *HTTPServer) Shutdown(ctx context.Context) error { return s.server.Shutdown(ctx) }

// Close closes listeners and connections. It does not wait for handlers, whose
// contexts end.
func (s *HTTPServer) Close() error { return s.server.Close() }
