package gateway

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestConnectionsAreBounded: one beyond the bound hears why it is closed; when
// another has ended there is room.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	inner, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &listener{Listener: inner, most: 2}
	accepted := make(chan net.Conn, 8)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		ctx := wait.Context(t)
		c, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	dial()
	dial()
	first, second := <-accepted, <-accepted
	third := dial()
	_ = third.SetReadDeadline(wait.Deadline(t))
	if text, err := io.ReadAll(third); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 503 ") || !strings.Contains(string(text), "too many connections") {
		t.Errorf("got %q, %v", text, err)
	}
	_ = first.Close()
	_ = first.Close() // counts once
	dial()
	_ = wait.For(t, "room after one has ended", accepted).Close()
	_ = second.Close()
	_ = inner.Close()
	<-done
	if n := l.open.Load(); n != 0 {
		t.Errorf("%d connections are counted", n)
	}
}
