package proxy_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// httpServer is a proxy.HTTPServer on this machine.
type httpServer struct {
	url, address string
	server       *proxy.HTTPServer
	transport    *http.Transport
	served       chan error
}

// serveHTTP serves a handler until close.
func serveHTTP(tb testing.TB, h http.Handler) *httpServer {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	s := &httpServer{
		url: "http://" + l.Addr().String(), address: l.Addr().String(),
		server:    proxy.NewHTTPServer(&http.Server{Handler: h, ReadHeaderTimeout: time.Minute}),
		transport: &http.Transport{}, served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(l) }()
	return s
}

// client returns a client whose connections end with the server.
func (s *httpServer) client() *http.Client { return &http.Client{Transport: s.transport} }

// close waits for requests, but not for long.
func (s *httpServer) close() {
	s.transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	<-s.served
}
