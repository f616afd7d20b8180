package http1client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server runs a script for each connection; number counts them from 0.
type server struct {
	url      string
	accepted atomic.Int32
}

// listen starts a server, which ends with the test together with its connections.
func listen(t *testing.T, addr string, script func(c net.Conn, r *bufio.Reader, number int)) *server {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Skipf("listening on %s: %v", addr, err)
	}
	s := &server{url: "http://" + ln.Addr().String() + "/mcp"}
	var mu sync.Mutex
	var open []net.Conn
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			n := int(s.accepted.Add(1)) - 1
			work.Go(func() {
				script(c, bufio.NewReader(c), n)
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	return s
}

// request reads one request with its body; false at the end of the connection.
func request(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}

// each answers each request with the same bytes.
func each(response string) func(net.Conn, *bufio.Reader, int) {
	return func(c net.Conn, r *bufio.Reader, _ int) {
		for request(r) {
			_, _ = io.WriteString(c, response)
		}
	}
}

// newClient returns a client with the settings that the transports use.
func newClient(t *testing.T) *Client {
	t.Helper()
	c := New(&http.Transport{
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, DisableCompression: true,
	})
	t.Cleanup(c.Close)
	return c
}

// post returns a request with a body; ctx may be nil.
func post(t *testing.T, ctx context.Context, target, body string) *http.Request { //nolint:revive // the test first
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	b := NewBody([]byte(body))
	return (&http.Request{
		Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{"Content-Type": {"application/json"}},
		Body: b, ContentLength: int64(len(body)),
	}).WithContext(ctx)
}

// get returns a request without a body.
func get(t *testing.T, target string) *http.Request {
	t.Helper()
	r := post(t, t.Context(), target, "")
	r.Method, r.Body = http.MethodGet, nil
	return r
}

// whole sends a request and reads its response to the end.
func whole(c *Client, req *http.Request) (status int, body string, err error) {
	resp, err := c.Do(req, new(Note))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// idle is how many connections wait for their next request.
func (c *Client) idle() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.hosts {
		n += len(h.idle)
	}
	return n
}
