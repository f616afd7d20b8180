package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSubscribeInVain: what nobody waits for any more is not asked for.
func TestSubscribeInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		var hears atomic.Bool
		s := runtimetest.New()
		s.Versions, s.Capabilities = []string{runtimetest.RevJuly}, json.RawMessage(`{"resources":{"subscribe":true}}`)
		s.Methods = map[string]runtimetest.Func{"subscriptions/listen": func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var p struct{ Notifications json.RawMessage }
			if err := json.Unmarshal(c.Params, &p); err != nil {
				return nil, err
			}
			asked = append(asked, string(p.Notifications))
			if hears.Load() {
				c.Notify("notifications/subscriptions/acknowledged", json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`},"notifications":`+string(p.Notifications)+`}`))
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		h := &notes{}
		c, err := bridge.Connect(t.Context(), bridge.Options{
			HTTP: true, Handler: h, Client: runtime.Implementation{Name: "t", Version: "1"},
			Open: func(context.Context) (runtime.Transport, error) { return s.Connect(h), nil },
		})
		require.NoError(t, err)
		subscribe := func(uri string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Call(ctx, &runtime.Request{Method: "resources/subscribe", Params: json.RawMessage(`{"uri":"` + uri + `"}`)})
			return err
		}
		for n := range 5 {
			if subscribe(fmt.Sprint("vain:", n)) == nil {
				t.Error("agreed to by a server that is deaf")
			}
		}
		time.Sleep(time.Hour) // as time goes in the bubble
		hears.Store(true)
		for range 3 { // the stream before may have to end first
			if err = subscribe("good:1"); err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		// The first had been sent by the time it was given up.
		if later := strings.Join(asked[1:], " "); err != nil || strings.Contains(later, "vain:") || !strings.Contains(later, "good:1") {
			t.Errorf("%v: asked for %q", err, asked)
		}
		_ = c.Close() // of a fake
	})
}
