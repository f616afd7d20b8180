package policies

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// pipe leads to the proxy over memory.
type pipe struct {
	listener *listener
	handler  *proxy.HTTPHandler
	server   *http.Server
	done     chan struct{}
}

// serve serves a proxy over memory until the pipe is closed.
func serve(p *proxy.Proxy) pipe {
	handler := p.NewHTTPHandler(proxy.HTTPOptions{AnyHost: true}) // nobody else can connect
	to := pipe{
		listener: &listener{ends: make(chan net.Conn), closed: make(chan struct{})}, handler: handler,
		server: &http.Server{Handler: handler}, done: make(chan struct{}), //nolint:gosec // a pipe has one client: us
	}
	go func() {
		defer close(to.done)
		_ = to.server.Serve(to.listener) // until close
	}()
	return to
}

// client returns an HTTP client all of whose requests go to the proxy.
func (p pipe) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: p.listener.dial, DisableCompression: true}}
}

// close ends all requests, and returns when they have ended.
func (p pipe) close() {
	p.handler.Close()
	_ = p.server.Close() // pipes have nothing to fail at
	<-p.done
}

// listener accepts connections over memory.
type listener struct {
	ends   chan net.Conn
	once   sync.Once
	closed chan struct{}
}

var errEnded = errors.New("the proxy has ended")

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.ends <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, errEnded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ends:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// relay passes on what a server sends, as soon as somebody wants it. What comes before is
// dropped: nothing was called then.
type relay struct {
	mu    sync.Mutex // guards what follows
	next  runtime.Handler
	ended bool
	why   error
}

// to names who gets what the server sends from now on.
func (r *relay) to(h runtime.Handler) {
	r.mu.Lock()
	r.next = h
	ended, why := r.ended, r.why
	r.mu.Unlock()
	if ended {
		h.Closed(why)
	}
}

func (r *relay) handler() runtime.Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		return runtime.NopHandler{}
	}
	return r.next
}

// Notification implements [runtime.Handler].
func (r *relay) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	r.handler().Notification(ctx, call, method, params)
}

// Request implements [runtime.Handler].
func (r *relay) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	return r.handler().Request(ctx, call, method, params)
}

// Closed implements [runtime.Handler].
func (r *relay) Closed(err error) {
	r.mu.Lock()
	r.ended, r.why = true, err
	next := r.next
	r.mu.Unlock()
	if next != nil {
		next.Closed(err)
	}
}
