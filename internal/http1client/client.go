// Package http1client sends requests over connections of HTTP/1.1 without a goroutine
// for each: who sends a request writes it and reads the response.
//
// A Client takes the requests that are common: to http:// without a proxy, with a small
// body or none. It hands all others to an http.Transport: https and HTTP/2, proxies,
// large bodies (whose response is to be read while they are written), and what only
// that one knows how to check or send.
//
// A connection is used again if its response has ended exactly where its head says,
// nothing has come since, and it is still open. What this package reads more strictly
// than net/http is the table strict of its tests.
package http1client

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
)

// maxHosts bounds the hosts that a client has connections of its own to; requests to
// others are handed on.
const maxHosts = 8

// Client sends requests. All methods may be called concurrently.
type Client struct {
	rest *http.Transport // its settings hold for the client, too

	mu     sync.Mutex // guards what follows, and the idle connections of each host
	hosts  map[string]*host
	closed bool
	timer  *time.Timer // closes what is idle for too long; nil where nothing is idle
	sweep  uint64      // counts its runs
}

// New returns a client that has the settings of rest for its own connections: Proxy,
// which must depend on scheme and host alone, DialContext, IdleConnTimeout and
// MaxIdleConnsPerHost.
func New(rest *http.Transport) *Client {
	return &Client{rest: rest, hosts: map[string]*host{}}
}

// Note says how far a request has come. The zero value is ready.
type Note struct {
	// Wrote is called when the request is written, perhaps more than once; nil for
	// nobody.
	Wrote func()

	connected atomic.Bool
}

// Connected reports whether there was a connection to write the request to.
func (n *Note) Connected() bool { return n.connected.Load() }

// trace returns a context with which net/http tells the note.
func (n *Note) trace(ctx context.Context) context.Context {
	t := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { n.connected.Store(true) }}
	if n.Wrote != nil {
		t.WroteRequest = func(httptrace.WroteRequestInfo) { n.Wrote() }
	}
	return deadline.WithValues(httptrace.WithClientTrace(ctx, t), ctx)
}

// Do sends a request and returns its response, as an [http.RoundTripper] does: redirects
// are not followed, and a request is only sent again where the server cannot have seen
// it. The end of the request's context ends the request, and closes its connection.
func (c *Client) Do(req *http.Request, n *Note) (*http.Response, error) {
	h := c.direct(req)
	if h == nil {
		return c.handOn(req, n)
	}
	buf := outbox.Get().(*[]byte)
	defer recycle(buf)
	var ok bool
	if *buf, ok = appendRequest((*buf)[:0], req); !ok {
		return c.handOn(req, n)
	}
	if req.Body != nil {
		_ = req.Body.Close() // as RoundTrip has to
	}
	for {
		x, err := c.connection(req.Context(), h)
		if err != nil {
			return nil, err
		}
		n.connected.Store(true)
		resp, err := x.exchange(req, *buf, n)
		if err == nil || !x.again(req) {
			return resp, err
		}
	}
}

// handOn has net/http send a request.
func (c *Client) handOn(req *http.Request, n *Note) (*http.Response, error) {
	return c.rest.RoundTrip(Standard(req, n))
}

// Standard returns a request for net/http, which tells the note and can send a [Body]
// again.
func Standard(req *http.Request, n *Note) *http.Request {
	req = req.WithContext(n.trace(req.Context()))
	if b, ok := req.Body.(*Body); ok {
		req.GetBody = b.again
	}
	return req
}

// direct returns the host of a request that the client can send itself, nil for one to
// hand on.
func (c *Client) direct(req *http.Request) *host {
	if !supported || req.URL.Scheme != "http" {
		return nil
	}
	c.mu.Lock()
	h, known := c.hosts[req.URL.Host]
	full := len(c.hosts) >= maxHosts
	c.mu.Unlock()
	switch {
	case known && h.direct:
		return h
	case known || full:
		return nil
	}
	h = &host{c: c, addr: address(req.URL)}
	if h.direct = isPlainHost(req.URL.Host); h.direct && c.rest.Proxy != nil {
		proxy, err := c.rest.Proxy(req)
		h.direct = proxy == nil && err == nil
	}
	c.mu.Lock()
	if other := c.hosts[req.URL.Host]; other != nil {
		h = other
	} else {
		c.hosts[req.URL.Host] = h
	}
	c.mu.Unlock()
	if !h.direct {
		return nil
	}
	return h
}

// Close closes the connections that are not in use, and the others when their
// responses have ended.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	var idle []*conn
	for _, h := range c.hosts {
		idle = append(idle, h.idle...)
		h.idle = nil
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	closeAll(idle)
	c.rest.CloseIdleConnections()
}
