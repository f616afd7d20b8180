package dial_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestDialKeepsCause: who cancels the connecting with a cause finds it in the error.
func TestDialKeepsCause(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // answers nobody
	require.NoError(t, err)
	defer l.Close()
	cause := errors.New("the budget is spent")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
		}
		cancel(cause)
	}()
	_, err = dial.Dial(ctx, config.Entry{URL: "http://" + l.Addr().String() + "/mcp"}, dial.Options{})
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
