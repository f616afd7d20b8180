package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// TestRequestTimeout: a request ends as long after the last sign of life of its
// server as the settings say, and an hour after its beginning whatever comes. The
// fast call has the same rules, see jsonrpc.TestDeadline.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proxy, server time.Duration // settings; 0: none
		progress      time.Duration // the server says something that often; 0: never
		want          time.Duration // 0: not within a day
	}{
		"silent":                      {want: 120 * time.Second},
		"silent, by the settings":     {proxy: 7 * time.Second, want: 7 * time.Second},
		"silent, by the server's own": {proxy: 7 * time.Second, server: 11 * time.Second, want: 11 * time.Second},
		"no bound":                    {proxy: -1},
		"no bound of the server's":    {proxy: 7 * time.Second, server: -1},
		"says too little":             {progress: 121 * time.Second, want: 120 * time.Second},
		"is at it":                    {progress: 119 * time.Second, want: time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, told := runtimetest.New(), make(chan time.Duration, 1)
			start := time.Now()
			server.Tools = append(server.Tools, runtimetest.Tool{
				Definition: json.RawMessage(`{"name":"work","inputSchema":{"type":"object"}}`),
				Call: func(ctx context.Context, call *runtimetest.Call) (json.RawMessage, error) {
					every := c.progress
					if every == 0 {
						every = 100 * time.Hour
					}
					for n := 1.0; ; n++ {
						select {
						case <-time.After(every):
							call.Progress(n, 0, "")
						case <-ctx.Done():
							told <- time.Since(start)
							return nil, ctx.Err()
						}
					}
				},
			})
			s := newStage(t, Options{Servers: []Server{{Name: "a", RequestTimeout: c.server}}, RequestTimeout: c.proxy}, map[string]*runtimetest.Server{"a": server})
			ctx, giveUp := context.WithTimeout(t.Context(), 24*time.Hour)
			defer giveUp()
			_, err := s.try(ctx, old(), "tools/call", `{"name":"a__work","arguments":{},"_meta":{"progressToken":7}}`)
			took := time.Since(start)
			if c.want == 0 {
				if took != 24*time.Hour {
					t.Errorf("%s: ended after %v: %v", name, took, err)
				}
				return
			}
			if took != c.want || err == nil || !strings.Contains(string(router.Failed("tools/call", err).Result), `{"kind":"timeout","server":"a"}`) {
				t.Errorf("%s: ended after %v, want %v: %v", name, took, c.want, err)
			}
			if at := <-told; at != c.want {
				t.Errorf("%s: the server was told after %v", name, at)
			}
		})
	}
}

// TestTimeForAList: a list that a server declares and does not give, or gives in
// pages without end, is given up, so that neither lists nor calls wait for ever.
func TestTimeForAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent, endless := runtimetest.New(), runtimetest.New()
		silent.Faults.SilentMethods = []string{"tools/list"}
		page := 0
		endless.Methods = map[string]runtimetest.Func{"tools/list": func(ctx context.Context, _ *runtimetest.Call) (json.RawMessage, error) {
			page++
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			return json.Marshal(map[string]any{"tools": []any{}, "nextCursor": strconv.Itoa(page)})
		}}
		s := newStage(t, Options{Servers: Named("silent", "endless", "b")}, map[string]*runtimetest.Server{"silent": silent, "endless": endless, "b": runtimetest.New()})
		start := time.Now()
		got := s.do(old(), "tools/list", `{}`)
		if took := time.Since(start); took > upstream.DiscoverTime || !strings.Contains(got, "b__echo") {
			t.Errorf("after %v: %s", took, got)
		}
		time.Sleep(5 * time.Second) // as time goes in the bubble: finding out the era was not in the list's time
		for _, name := range []string{"silent", "endless"} {
			err := s.p.router.Catalog.Inventory(s.backend(name)).Failure(inventory.Tools)
			if delayed, ok := errors.AsType[*runtime.TimeoutError](err); !ok || delayed.After != 30*time.Second {
				t.Errorf("%s: after %v: %v", name, time.Since(start), err)
			}
			if _, err := s.try(t.Context(), old(), "tools/call", `{"name":"`+name+`__echo","arguments":{}}`); err == nil {
				t.Errorf("%s: it has a tool", name)
			}
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("calls waited for %v", took)
		}
	})
}
