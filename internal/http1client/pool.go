package http1client

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// host is one host and port.
type host struct {
	c      *Client
	addr   string  // to connect to
	direct bool    // false: requests are handed on
	idle   []*conn // guarded by the client's lock; the one used last at the end
}

// isPlainHost reports whether a host of a URL is written as it is sent: no name to
// encode, no zone of an address, no empty port.
func isPlainHost(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._:[]", c) >= 0) {
			return false
		}
	}
	return s != "" && !strings.HasSuffix(s, ":")
}

// address returns where a URL of http:// leads.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// connection returns one that was used before, or a new one.
func (c *Client) connection(ctx context.Context, h *host) (*conn, error) {
	if x := h.take(); x != nil {
		x.reused = true
		return x, nil
	}
	nc, err := c.rest.DialContext(ctx, "tcp", h.addr)
	if err != nil {
		return nil, err
	}
	return newConn(h, nc)
}

// take returns the connection that was used last, nil where none is idle.
func (h *host) take() *conn {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	n := len(h.idle)
	if n == 0 {
		return nil
	}
	x := h.idle[n-1]
	h.idle[n-1] = nil
	h.idle = h.idle[:n-1]
	return x
}

// put keeps a connection for the next request. Beyond what may be idle, it is closed.
func (h *host) put(x *conn) {
	c := h.c
	c.mu.Lock()
	reusable := !c.closed && len(h.idle) < c.rest.MaxIdleConnsPerHost
	if reusable {
		x.idleSince = c.sweep
		h.idle = append(h.idle, x)
		if c.timer == nil {
			c.timer = time.AfterFunc(c.rest.IdleConnTimeout/2, c.closeOld)
		}
	}
	c.mu.Unlock()
	if !reusable {
		x.close()
	}
}

// closeOld closes the connections that were idle in the run before, too. A connection
// is thus idle for at most IdleConnTimeout, without a clock reading in each request.
func (c *Client) closeOld() {
	var old []*conn
	c.mu.Lock()
	left := 0
	for _, h := range c.hosts {
		h.idle = slices.DeleteFunc(h.idle, func(x *conn) bool {
			if x.idleSince == c.sweep {
				return false
			}
			old = append(old, x)
			return true
		})
		left += len(h.idle)
	}
	c.sweep++
	c.timer = nil
	if left > 0 && !c.closed {
		c.timer = time.AfterFunc(c.rest.IdleConnTimeout/2, c.closeOld)
	}
	c.mu.Unlock()
	closeAll(old)
}

func closeAll(conns []*conn) {
	for _, x := range conns {
		x.close()
	}
}
