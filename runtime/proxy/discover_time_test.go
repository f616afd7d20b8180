package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// hangs is a server that answers nothing after the handshake.
type hangs struct{ instant }

func (hangs) Call(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestListsBesideAServerThatHangs: a list has what the others offer after half a
// minute, calls to them do not wait at all, and those to the server itself end
// with an error.
func TestListsBesideAServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("hung", "slow", "good"), Dial: func(ctx context.Context, key proxy.Key, _ runtime.Handler) (*runtime.Client, error) {
			var s runtime.Transport = instant{json.RawMessage(oneTool), json.RawMessage(`{"content":[]}`)}
			switch key.Server {
			case "hung":
				s = hangs{}
			case "slow": // to connect
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		}})
		require.NoError(t, err)
		defer func() { _ = p.Close() }()
		c := attach(t, p)
		start := time.Now()
		if got := c.result("tools/call", `{"name":"good__x"}`); time.Since(start) > 0 || got != `{"content":[]}` {
			t.Errorf("a call to another took %s: %s", time.Since(start), got)
		}
		got := c.result("tools/list", `{}`)
		if took := time.Since(start); took != 30*time.Second || !strings.Contains(got, `"good__x"`) || strings.Contains(got, "slow__") {
			t.Errorf("a list took %s: %s", took, got)
		}
		if got := c.result("tools/call", `{"name":"hung__x"}`); time.Since(start) > 61*time.Second || !strings.Contains(got, `"isError":true`) {
			t.Errorf("a call to it took %s: %s", time.Since(start), got)
		}
		if got := c.result("tools/call", `{"name":"slow__x"}`); time.Since(start) > 2*time.Minute || got != `{"content":[]}` {
			t.Errorf("a call to the slow one took %s: %s", time.Since(start), got)
		}
	})
}
