package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/local"
	"github.com/mcpctl/mcpctl/cmd/internal/sessions"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// serveHTTP serves until ctx is done.
func (g *gateway) serveHTTP(ctx context.Context) error {
	p, o := g.proxy, g.o
	l, address, err := g.listen(ctx)
	if err != nil {
		return err
	}
	set := &g.h.Settings.Serve
	web := proxy.HTTPOptions{Unready: g.audit.Unready, AnyHost: o.Insecure && !o.asks || o.Socket != "", Origins: set.CORS, StreamMax: set.StreamMax, NoCompression: set.Compression == "off"}
	files, err := g.openTLS()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	authenticator, err := g.newAuthenticator(files, address)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	endpoint := cmp.Or(g.h.Settings.Serve.Access.URL, address)
	if err := g.accounts.serveAt(endpoint, authenticator); err != nil {
		return errors.Join(err, l.Close())
	}
	switch {
	case authenticator != nil:
		web.Authenticator, web.IPHosts, web.Hosts = authenticator, true, g.h.Settings.Serve.Access.Hosts
		web.Refused = authenticator.refused(g.h.Log)
		g.authenticator.Store(authenticator)
	case o.Socket != "" && o.Session == nil:
		web.Principal = socketOwner()
	}
	below := func(path string) proxy.HTTPOptions {
		o := web
		o.Path = path
		return o
	}
	mcp, sse := p.NewHTTPHandler(below("/mcp")), p.NewSSEHandler(proxy.SSEOptions{HTTPOptions: below("/sse")})
	mux := http.NewServeMux()
	for path, h := range map[string]http.Handler{
		"/mcp": mcp, "/sse": sse, "/messages": sse.Messages(),
		"/mcp/": mcp, "/sse/": sse, // of views
	} {
		mux.Handle(path, withCORS(h, set.CORS))
	}
	health := p.Health(web)
	mux.Handle("/healthz", health)
	mux.Handle("/readyz", health)
	handler := proxy.Guard(p.Recorded(web), mux, "/mcp", "/mcp/", "/sse", "/sse/", "/messages", "/healthz", "/readyz")
	if authenticator != nil {
		handler = withMetadata(handler, web, authenticator.issuers)
		if handler, err = g.withPages(handler, authenticator, endpoint); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	over := make(<-chan struct{})
	if o.Session != nil {
		next := *o.Session
		next.Protocol = g.protocol
		session := sessions.Keep(ctx, next, mux)
		handler, over = session, session.Over()
	}
	srv := g.newServer(handler, files)
	if authenticator != nil {
		following, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		work.Go(func() { authenticator.follow(following, g, mcp, sse) })
		for _, run := range authenticator.issuers.runs {
			work.Go(func() { run(following) })
		}
		defer work.Wait()
		defer stop()
	}
	g.shown.addrs.Store(&[]string{address})
	fmt.Fprintf(g.h.UI.Err, "listening on %s\n", address)
	if g.o.Session == nil && g.o.Socket == "" {
		g.welcome(address, authenticator != nil)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(&listener{Listener: l, most: maxConnections}) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	case <-over:
	}
	mcp.Close()
	sse.Close()
	// Requests have ended; Shutdown may still wait for an answer being written, or
	// five seconds for a connection without any request.
	const linger = time.Second
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), linger)
	defer cancel()
	go func() { // ends with closing
		select {
		case <-g.h.Hurry:
			cancel()
		case <-closing.Done():
		}
	}()
	if err := srv.Shutdown(closing); err != nil {
		_ = srv.Close() // cuts remaining requests
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// listen opens the address or the socket, and returns what it is called.
func (g *gateway) listen(ctx context.Context) (net.Listener, string, error) {
	o := g.o
	if o.Socket != "" {
		l, err := local.Listen(ctx, o.Socket, g.h.Log)
		if err != nil {
			return nil, "", &ui.Error{Kind: "connect", Err: fmt.Errorf("listen on %s: %w", o.Socket, err), Remedy: "choose another path: mcpctl " + o.Command + " --socket PATH"}
		}
		return l, o.Socket, nil
	}
	if err := o.checkAddress(); err != nil {
		return nil, "", err
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive()}
	l, err := lc.Listen(ctx, "tcp", o.HTTP)
	if err != nil {
		return nil, "", &ui.Error{Kind: "connect", Err: fmt.Errorf("listen on %s: %w", o.HTTP, err), Remedy: g.taken(ctx, err)}
	}
	scheme := "http"
	if g.usesTLS() {
		scheme = "https"
	}
	return l, fmt.Sprintf("%s://%s/mcp", scheme, l.Addr()), nil
}

// protocol returns the revision that the only server speaks, "" where it is not connected.
func (g *gateway) protocol() string {
	for _, b := range g.proxy.Status().Backends {
		if len(b.Connections) > 0 {
			return b.Connections[0].Revision
		}
	}
	return ""
}

// newServer returns a server with bounds against slow clients. The endpoints remove the
// read deadline of long requests, extend it for large bodies, and set write
// deadlines themselves, because streams last.
func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

// keepAlive detects a silently lost client within a minute.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
}

// maxConnections bounds the connections of clients over HTTP: each is a file
// descriptor, and servers need some as well.
const maxConnections = 16_384

// tooManyConnections answers connections beyond the bound.
const tooManyConnections = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 1\r\nConnection: close\r\n\r\ntoo many connections: try again later\n"

// listener bounds the connections of the wrapped one.
type listener struct {
	net.Listener
	most int64
	open atomic.Int64
}

// Accept implements [net.Listener]. It answers and closes connections beyond the
// bound.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.most {
			return &counted{Conn: c, l: l}, nil
		}
		l.open.Add(-1)
		_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // usually the socket's buffer has room
		_, _ = c.Write([]byte(tooManyConnections))
		_ = c.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	l    *listener
	once sync.Once
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.once.Do(func() { c.l.open.Add(-1) })
	return c.Conn.Close()
}
