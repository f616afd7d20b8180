//go:build integration

package peers_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestBackendForgetsSession: an SDK server that has lost its sessions is
// greeted again, without the client noticing, and reports changes again.
func TestBackendForgetsSession(t *testing.T) {
	t.Parallel()
	for gateway, open := range ways() {
		t.Run(gateway, func(t *testing.T) {
			t.Parallel()
			s := newSDKServer()
			url := listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
			c := open(t, configure(t, remote("sdk", url)))
			ctx := wait.Context(t)
			if _, err := c.ListTools(ctx, nil); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				for session := range s.Sessions() {
					_ = session.Close()
				}
				if got, _, err := c.call(ctx, "sdk__echo", message{"again"}); err != nil || got != "again" {
					t.Fatalf("after the session's end: got %q, %v", got, err)
				}
			}
			changes(ctx, t, c)
		})
	}
}

// TestBackendGoesAway: a remote server that is gone gives a clear result, its
// tools stay listed, and it is used again once it is back.
func TestBackendGoesAway(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*mcp.StreamableHTTPOptions{"stateful": nil, "stateless": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSDKServer()
			up := func(addr string) *httptest.Server {
				l, err := net.Listen("tcp", addr)
				require.NoError(t, err)
				h := httptest.NewUnstartedServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o))
				_ = h.Listener.Close()
				h.Listener = l
				h.Start()
				return h
			}
			down := func(h *httptest.Server) {
				h.CloseClientConnections()
				_ = h.Config.Close() // streams would keep Close of the test server waiting
				h.Close()
			}
			h := up("127.0.0.1:0")
			addr := h.Listener.Addr().String()
			c := stdioGateway(t, legacyRevision, configure(t, remote("sdk", h.URL), fake("fake")))
			ctx := wait.Context(t)
			if got, _, err := c.call(ctx, "sdk__echo", message{"1"}); err != nil || got != "1" {
				t.Fatalf("got %q, %v", got, err)
			}
			down(h)
			got, res, err := c.call(ctx, "sdk__echo", message{"2"})
			if err != nil || !res.IsError || !strings.Contains(got, "sdk: connect http://"+addr) {
				t.Errorf("while it is gone: got %q, %v", got, err)
			}
			if got, _, err := c.call(ctx, "fake__echo", message{"other"}); err != nil || got != "other" {
				t.Errorf("another server: got %q, %v", got, err)
			}
			tools, err := c.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) < 20 {
				t.Errorf("list: got %d tools, %v", len(tools.Tools), err)
			}
			h = up(addr)
			defer func() { down(h) }()
			if got, _, err := c.call(ctx, "sdk__echo", message{"3"}); err != nil || got != "3" {
				t.Errorf("when it is back: got %q, %v", got, err)
			}
			changes(ctx, t, c)
		})
	}
}
