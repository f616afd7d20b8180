package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// serveHTTP serves until ctx is done.
func (g *gateway) serveHTTP(ctx context.Context) error {
	a, p, f := g.a, g.proxy, g.f
	if err := f.guard(); err != nil {
		return err
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive()}
	l, err := lc.Listen(ctx, "tcp", f.http)
	if err != nil {
		return (&Error{Code: exitConnect, Err: fmt.Errorf("listen on %s: %w", f.http, err)}).withHint("choose another address: mcpctl serve --http 127.0.0.1:0")
	}
	o := proxy.HTTPOptions{AnyHost: f.insecure, StreamMax: a.settings.Serve.StreamMax}
	front, old := p.NewHTTPFront(o), p.NewSSEFront(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", front)
	mux.Handle("/sse", old)
	mux.Handle("/messages", old.Messages())
	health := p.Health(o)
	mux.Handle("/healthz", health)
	mux.Handle("/readyz", health)
	// No write timeout: streams last.
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	fmt.Fprintf(a.ui.Err, "listening on http://%s/mcp\n", l.Addr())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	front.Close()
	old.Close()
	// Requests have been ended by now; what can still wait is an answer being
	// written, or a connection on which nothing was ever asked, which Shutdown
	// would give five seconds.
	const linger = time.Second
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), linger)
	defer cancel()
	if err := srv.Shutdown(closing); err != nil {
		_ = srv.Close() // requests that go on are cut
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// keepAlive finds a client that has gone without a word within a minute.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
}
