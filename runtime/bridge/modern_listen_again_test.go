package bridge_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSubscribeAgain: who subscribes to what somebody has left before hears of
// it like the first, whether or not the stream is still open.
func TestSubscribeAgain(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		for _, between := range []time.Duration{0, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				var last *runtimetest.Call
				s := runtimetest.New()
				s.Versions, s.Capabilities = []string{runtimetest.RevJuly}, json.RawMessage(`{"resources":{"subscribe":true}}`)
				s.Methods = map[string]runtimetest.Func{"subscriptions/listen": func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
					var p struct{ Notifications json.RawMessage }
					if err := json.Unmarshal(c.Params, &p); err != nil {
						return nil, err
					}
					c.Notify("notifications/subscriptions/acknowledged", json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`},"notifications":`+string(p.Notifications)+`}`))
					last = c
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				h := &notes{}
				c, err := bridge.Connect(t.Context(), bridge.Options{
					HTTP: overHTTP, Handler: h, Client: runtime.Implementation{Name: "t", Version: "1"},
					Open: func(context.Context) (runtime.Transport, error) { return s.Connect(h), nil },
				})
				require.NoError(t, err)
				for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "resources/subscribe"} {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					if _, err := c.Call(ctx, &runtime.Request{Method: method, Params: json.RawMessage(`{"uri":"a:b"}`)}); err != nil {
						t.Errorf("over HTTP %v, %s between, %s: %v", overHTTP, between, method, err)
					}
					cancel()
					time.Sleep(between)
				}
				synctest.Wait()
				before := len(h.all())
				last.Notify("notifications/resources/updated", json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(last.ID)+`},"uri":"a:b"}`))
				synctest.Wait()
				if got := h.all(); len(got) != before+1 {
					t.Errorf("over HTTP %v, %s between: told %v", overHTTP, between, got)
				}
				_ = c.Close() // of a fake
			})
		}
	}
}
