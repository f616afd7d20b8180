package proxy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// TestNewToolsLast: the order of a list stays as it was when a server lists its tools in another
// one, and tools that come go behind those of their server, with a view and without, also in the
// next process. Pins stay first. A mere change of order is no change.
func TestNewToolsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for view, want := range map[string][2][]string{
			"":  {{"a__m", "a__k", "b__t"}, {"a__m", "a__k", "a__z", "a__b", "b__t"}},
			"v": {{"b__t", "a__m", "a__k"}, {"b__t", "a__m", "a__k", "a__z", "a__b"}},
		} {
			s := &counting{stub: simple("m", "k")}
			s.capabilities = `{"tools":{"listChanged":true}}`
			servers := stubs{"b": simple("t")}
			stored := &memory{}
			o := proxy.Options{Servers: digested("a", "b"), Store: stored, View: view, Views: viewsOf(t, "", map[string]views.Config{"v": {Pin: []string{"b__t"}}})}
			dial := func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
				if key.Server == "a" {
					return s.dial(ctx, key, h)
				}
				return servers.dial(ctx, key, h)
			}
			c, _, end := run(t, dial, o)
			names, _ := offered(c)
			equal(t, "at first", names, want[0]...)
			list := func(names ...string) {
				s.set("tools/list", simple(names...).answers["tools/list"])
				s.h.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
				time.Sleep(time.Minute)
			}
			list("k", "m")
			names, _ = offered(c)
			equal(t, "in another order", names, want[0]...)
			list("z", "k", "b", "m")
			names, _ = offered(c)
			equal(t, "with others", names, want[1]...)
			end()
			c, _, end = run(t, dial, o)
			names, _ = offered(c)
			equal(t, "in the next process", names, want[1]...)
			end()
		}
	})
}
