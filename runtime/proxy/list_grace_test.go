package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	stdruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// many returns servers with a list of each kind, and the settings of each.
func many(n int) (stubs, []proxy.Server) {
	all, names := stubs{}, make([]string, n)
	for i := range n {
		s := simple("t")
		s.capabilities = `{"tools":{},"prompts":{},"resources":{}}`
		s.answers["prompts/list"] = `{"prompts":[{"name":"p"}]}`
		s.answers["resources/list"] = fmt.Sprintf(`{"resources":[{"name":"r","uri":"x://%d"}]}`, i)
		s.answers["resources/templates/list"] = fmt.Sprintf(`{"resourceTemplates":[{"name":"r","uriTemplate":"x%d://{id}"}]}`, i)
		names[i] = fmt.Sprintf("s%02d", i)
		all[names[i]] = s
	}
	return all, proxy.Named(names...)
}

// TestListGrace: a list of either era goes without a server that is still being
// connected, says so, and clients are told when it has come.
func TestListGrace(t *testing.T) {
	for _, tt := range []struct{ method, changed string }{
		{"tools/list", "tools"}, {"prompts/list", "prompts"}, {"resources/list", "resources"}, {"resources/templates/list", "resources"},
	} {
		for _, modern := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				all, servers := many(20)
				s := &slow{to: all.dial, take: map[string]time.Duration{"s07": 10 * time.Second}}
				c, _, _ := run(t, s.dial, proxy.Options{Servers: servers, ListGrace: 2 * time.Second})
				list := func() string {
					if modern {
						return c.july("1", tt.method, `{}`, `{}`)
					}
					return c.result(tt.method, `{}`)
				}
				const partial = `"dev.mcpctl/partial":[{"server":"s07","kind":"connecting"}]`
				start := time.Now()
				got := list()
				if took := time.Since(start); took != 2*time.Second || strings.Count(got, `"name":`) < 19 || !strings.Contains(got, partial) {
					t.Errorf("%s after %s: %s", tt.method, took, got)
				}
				if got = list(); time.Since(start) != 2*time.Second || !strings.Contains(got, partial) {
					t.Errorf("the next %s after %s: %s", tt.method, time.Since(start), got)
				}
				if modern { // it has not asked to be told
					time.Sleep(8 * time.Second)
					synctest.Wait()
				} else if note := <-c.notes; !strings.Contains(note, tt.changed+"/list_changed") || time.Since(start) != 10*time.Second {
					t.Errorf("%s: told after %s: %s", tt.method, time.Since(start), note)
				}
				if got = list(); time.Since(start) != 10*time.Second || strings.Contains(got, "partial") || strings.Count(got, `"name":`) < 20 {
					t.Errorf("%s after that: %s", tt.method, got)
				}
			})
		}
	}
}

// TestListGraceOfAHungServer: what a server that never comes is missing for, and that
// calls to it go on waiting.
func TestListGraceOfAHungServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, servers := many(20)
		hung := func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			if key.Server != "s00" {
				return all.dial(ctx, key, h)
			}
			select {
			case <-time.After(30 * time.Second):
				return nil, &runtime.TimeoutError{Op: "connect", After: 30 * time.Second}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		c, _, _ := run(t, hung, proxy.Options{Servers: servers, ListGrace: 2 * time.Second})
		start := time.Now()
		names, partial := offered(c)
		if took := time.Since(start); took != 2*time.Second || len(names) != 19 || partial != `[{"server":"s00","kind":"connecting"}]` {
			t.Errorf("after %s: %d tools, %s", took, len(names), partial)
		}
		if got := c.result("tools/call", `{"name":"s00__t"}`); time.Since(start) != 30*time.Second || !strings.Contains(got, `"kind":"timeout"`) {
			t.Errorf("a call was answered after %s: %s", time.Since(start), got)
		}
		if _, partial = offered(c); partial != `[{"server":"s00","kind":"timeout"}]` {
			t.Errorf("after that: %s", partial)
		}
	})
}

// TestListGraceTellsTogether: servers that come one after another are no notification
// each.
func TestListGraceTellsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, servers := many(20)
		s := &slow{to: all.dial, take: map[string]time.Duration{}}
		for i := range servers {
			s.take[servers[i].Name] = time.Duration(i) * 400 * time.Millisecond // the last after 7.6 s
		}
		c, _, _ := run(t, s.dial, proxy.Options{Servers: servers, ListGrace: 2 * time.Second})
		if names, _ := offered(c); len(names) != 6 && len(names) != 5 {
			t.Errorf("first list: %v", names)
		}
		told := c.listChanges()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := told.Load(); n < 1 || n > 4 {
			t.Errorf("told %d times", n)
		}
		if names, partial := offered(c); len(names) != 20 || partial != "" {
			t.Errorf("at the end: %v, %s", names, partial)
		}
	})
}

// TestStartsTakeTurns: so many servers are started at once. A
// list gives each its whole time from when its turn has come, a call has its own server
// started at once, and those that are not started on this machine do not wait.
func TestStartsTakeTurns(t *testing.T) {
	atOnce := 16 * stdruntime.GOMAXPROCS(0)
	n := atOnce + 8
	for _, tt := range []struct {
		name  string
		local bool
		most  int
		took  time.Duration
	}{
		{"local", true, atOnce, time.Duration((n+atOnce-1)/atOnce) * time.Second},
		{"remote", false, n, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, servers := many(n)
				s := &slow{to: all.dial, take: map[string]time.Duration{}}
				for i := range servers {
					servers[i].Local, servers[i].DiscoveryTimeout, servers[i].Start = tt.local, 1500*time.Millisecond, proxy.StartCached
					s.take[servers[i].Name] = time.Second
				}
				c, _, _ := run(t, s.dial, proxy.Options{Servers: servers})
				start := time.Now()
				if names, partial := offered(c); len(names) != n || partial != "" || time.Since(start) != tt.took || s.most != tt.most {
					t.Errorf("after %s, %d at once: %d tools, %s", time.Since(start), s.most, len(names), partial)
				}
			})
		})
	}
	t.Run("a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			all, servers := many(n)
			s := &slow{to: all.dial, take: map[string]time.Duration{}}
			for i := range servers {
				servers[i].Local, servers[i].Start = true, proxy.StartCached
				s.take[servers[i].Name] = time.Second
			}
			c, _, _ := run(t, s.dial, proxy.Options{Servers: servers})
			list := c.begin(`"l"`, "tools/list", `{}`)
			time.Sleep(100 * time.Millisecond) // all are waiting for their turn
			start := time.Now()
			for _, server := range []string{servers[n-2].Name, servers[n-1].Name} {
				if got := c.result("tools/call", `{"name":"`+server+`__t"}`); got != `{"content":[]}` {
					t.Errorf("the call: %s", got)
				}
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("two calls took %s", took)
			}
			<-list
		})
	})
	t.Run("hung ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			all, servers := many(n)
			s := &slow{to: all.dial, take: map[string]time.Duration{}}
			for i := range servers {
				servers[i].Local, servers[i].Start = true, proxy.StartCached
				if i < atOnce {
					s.take[servers[i].Name] = time.Hour
				}
			}
			c, _, _ := run(t, s.dial, proxy.Options{Servers: servers, ListGrace: 2 * time.Second})
			start := time.Now()
			names, _ := offered(c)
			for len(names) < n-atOnce && time.Since(start) < time.Minute {
				<-c.notes
				names, _ = offered(c)
			}
			// Those before them have had the turns for ten seconds.
			if most := 13*time.Second + time.Second; time.Since(start) > most {
				t.Errorf("all others have come after %s, want %s", time.Since(start), most)
			}
		})
	})
}

// TestFirstListOfAFreshProxy: servers are started when there is a client, the first list
// waits for those that make progress, and a server that hangs delays that one alone.
func TestFirstListOfAFreshProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, servers := many(10)
		s := &slow{to: all.dial, take: map[string]time.Duration{}}
		for i := range servers {
			s.take[servers[i].Name] = time.Duration(i) * 2 * time.Second
		}
		s.take["s04"] = 1000 * time.Hour
		for i := range servers {
			servers[i].DiscoveryTimeout = -1
		}
		var log lockedBuffer
		c, _, _ := run(t, s.dial, proxy.Options{Servers: servers, ListGrace: 20 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c.hello("2025-11-25", `{}`, "c")
		start := time.Now()
		time.Sleep(4500 * time.Millisecond)
		names, partial := offered(c)
		if took := time.Since(start); took != 20*time.Second || len(names) != 9 || partial != `[{"server":"s04","kind":"connecting"}]` {
			t.Errorf("the first list after %s: %d tools, %s", took, len(names), partial)
		}
		if got := log.String(); !strings.Contains(got, `msg="waiting for s03, s04, s05, s06, s07, s08, s09 …"`) {
			t.Errorf("the log: %s", got)
		}
		start = time.Now()
		if got := c.result("tools/call", `{"name":"s03__t"}`); time.Since(start) > 50*time.Millisecond {
			t.Errorf("a call to another server after %s: %s", time.Since(start), got)
		}
		for range 3 {
			start := time.Now()
			if names, _ := offered(c); len(names) != 9 || time.Since(start) > 50*time.Millisecond {
				t.Errorf("a later list after %s: %d tools", time.Since(start), len(names))
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestFailedServerDelaysNoList: what has failed is tried again beside the lists, and
// clients are told when it has come.
func TestFailedServerDelaysNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, servers := many(2)
		var works atomic.Bool
		c, _, _ := run(t, func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			if key.Server == "s01" {
				time.Sleep(3 * time.Second)
				if !works.Load() {
					return nil, &runtime.ConnectError{Target: "s01", Err: errors.New("no")}
				}
			}
			return all.dial(ctx, key, h)
		}, proxy.Options{Servers: servers, ListGrace: 20 * time.Second})
		c.hello("2025-11-25", `{}`, "c")
		if names, partial := offered(c); len(names) != 1 || partial != `[{"server":"s01","kind":"connect"}]` {
			t.Errorf("the first list: %v, %s", names, partial)
		}
		works.Store(true)
		time.Sleep(time.Hour)
		start := time.Now()
		if names, _ := offered(c); len(names) != 1 || time.Since(start) != 0 {
			t.Errorf("a later list after %s: %v", time.Since(start), names)
		}
		if note := <-c.notes; !strings.Contains(note, "list_changed") || time.Since(start) < 3*time.Second {
			t.Errorf("after %s: %s", time.Since(start), note)
		}
		if names, partial := offered(c); len(names) != 2 || partial != "" {
			t.Errorf("at the end: %v, %s", names, partial)
		}
	})
}

// lockedBuffer is a buffer that several write to.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestEndWhileConnecting: that a proxy ends is no fault of the servers that it is connecting.
func TestEndWhileConnecting(t *testing.T) {
	var log lockedBuffer
	begun := make(chan struct{})
	hang := func(ctx context.Context, _ proxy.Key, _ runtime.Handler) (*runtime.Client, error) {
		close(begun)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	c, _, end := run(t, hang, proxy.Options{Servers: proxy.Named("a"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c.begin("1", "tools/list", `{}`)
	<-begun
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	end()
	if strings.Contains(log.String(), "level=WARN") {
		t.Errorf("got %s", log.String())
	}
}
