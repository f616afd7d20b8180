package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestCallKeepsCause: who cancels a call with a cause finds it in the error.
func TestCallKeepsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the budget is spent")
		s := runtimetest.New()
		c := runtime.NewClient(s.Connect(runtime.NopHandler{}), runtime.ClientOptions{Timeout: -1, Info: runtime.ServerInfo{Version: "2025-11-25"}})
		defer func() { _ = c.Close() }()
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := c.CallTool(ctx, "slow", json.RawMessage(`{"ms":3600000}`), nil)
			failed <- err
		}()
		synctest.Wait()
		cancel(cause)
		err := <-failed
		if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || err.Error() != "tools/call: context canceled: the budget is spent" {
			t.Errorf("got %v", err)
		}
	})
}
