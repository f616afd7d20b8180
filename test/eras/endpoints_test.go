package eras_test

import (
	"context"
	"fmt"
)

// endpoint is one way for a client to reach the proxy.
type endpoint struct {
	name, title string
	modern      bool
	// session reports whether the proxy knows a client from one request to the
	// next, stream whether it can send something outside of requests.
	session, stream bool
	http            bool
	// open connects a client.
	open func(p *pair, c *client) error
}

func endpoints() []endpoint {
	return []endpoint{
		{name: "stdio", title: "legacy stdio", session: true, stream: true, open: func(p *pair, c *client) error {
			w := dialStdio(p.stdio(), c)
			c.wire = w
			return handshake(c)
		}},
		{name: "http", title: "legacy HTTP with session", session: true, stream: true, http: true, open: func(p *pair, c *client) error {
			w := newHTTPTransport(c, p.url+"/mcp")
			c.wire = w
			return w.initialize(true)
		}},
		{name: "nosession", title: "legacy HTTP without session", http: true, open: func(p *pair, c *client) error {
			w := newHTTPTransport(c, p.url+"/mcp")
			c.wire = w
			return w.initialize(false)
		}},
		{name: "sse", title: "HTTP+SSE", session: true, stream: true, http: true, open: func(p *pair, c *client) error {
			w, err := dialSSE(c, p.url+"/sse")
			if err != nil {
				return err
			}
			c.wire = w
			return handshake(c)
		}},
		{name: "modern-stdio", title: "modern stdio", modern: true, stream: true, open: func(p *pair, c *client) error {
			c.wire = dialStdio(p.stdio(), c)
			return nil
		}},
		{name: "modern-http", title: "modern HTTP", modern: true, stream: true, http: true, open: func(p *pair, c *client) error {
			c.wire = newHTTPTransport(c, p.url+"/mcp")
			return nil
		}},
	}
}

// handshake is the handshake over a wire whose messages need no headers.
func handshake(c *client) error {
	k := &call{c: c, id: `"hello"`, answered: make(chan struct{})}
	c.mu.Lock()
	c.calls[k.id] = k
	c.mu.Unlock()
	if err := c.wire.send(c.ctx, []byte(initializeRequest(c)), k, nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, *limit)
	defer cancel()
	m, err := k.wait(ctx)
	if err == nil {
		_, err = m.Outcome()
	}
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return c.notify("notifications/initialized", "")
}
