package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// slow has some servers take their time to connect; most counts how many were
// being connected at once.
type slow struct {
	to   proxy.Dial
	take map[string]time.Duration

	mu        sync.Mutex // guards what follows
	now, most int
}

func (s *slow) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(s.take[key.Server]):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.to(ctx, key, h)
}

// cached are servers that nothing but a call or a list starts.
func cached(names ...string) []proxy.Server {
	all := proxy.Named(names...)
	for i := range all {
		all[i].Start = proxy.StartCached
	}
	return all
}

func simple(tools ...string) *stub {
	var list []string
	for _, name := range tools {
		list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	return &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
		"tools/list": `{"tools":[` + strings.Join(list, ",") + `]}`, "tools/call": `{"content":[]}`,
	}}
}

// offered gives the names of tools/list, and its report of who is missing.
func offered(c *client) (names []string, partial string) {
	c.t.Helper()
	var r struct {
		Tools []struct{ Name string }
		Meta  map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(c.result("tools/list", `{}`)), &r); err != nil {
		c.t.Fatal(err)
	}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names, string(r.Meta["dev.mcpctl/partial"])
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestColdList: a list waits for the slowest server, not for one after the
// other, and for none longer than its time; whoever comes later is told of.
func TestColdList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := stubs{"a": simple("t"), "b": simple("t"), "c": simple("t"), "d": simple("t")}
		s := &slow{to: servers.dial, take: map[string]time.Duration{"a": 3 * time.Second, "b": 4 * time.Second, "c": 45 * time.Second, "d": 20 * time.Second}}
		o := proxy.Options{Servers: proxy.Named("a", "b", "c", "d")}
		o.Servers[3].DiscoveryTimeout = 5 * time.Second
		c, _, _ := run(t, s.dial, o)
		begun := time.Now()
		names, partial := offered(c)
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("the list took %v, want the 30 s that the slowest is given", took)
		}
		equal(t, "first list", names, "a__t", "b__t", "d__t")
		if want := `[{"server":"c","kind":"timeout"}]`; partial != want {
			t.Errorf("got %s, want %s", partial, want)
		}
		begun = time.Now()
		names, _ = offered(c)
		equal(t, "list after that", names, "a__t", "b__t", "d__t")
		if took := time.Since(begun); took > 0 {
			t.Errorf("the next list waited for %v", took)
		}
		for { // d was late, too
			if note := <-c.notes; !strings.Contains(note, "tools/list_changed") {
				t.Fatalf("got %s", note)
			}
			if names, partial = offered(c); len(names) == 4 {
				break
			}
		}
		if took := time.Since(begun); took != 15*time.Second || partial != "" {
			t.Errorf("told after %v, still missing: %q", took, partial)
		}
	})
}

// TestCallsWaitForTheirOwn: a call is not held up by servers that it does not
// need, also where the name is not known, and leaves a list complete that
// follows.
func TestCallsWaitForTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := simple("t")
		own.capabilities = `{"tools":{},"prompts":{},"resources":{}}`
		own.answers["prompts/list"] = `{"prompts":[{"name":"p"}]}`
		own.answers["prompts/get"] = `{"messages":[]}`
		own.answers["resources/templates/list"] = `{"resourceTemplates":[{"name":"r","uriTemplate":"x://{id}"}]}`
		own.answers["resources/read"] = `{"contents":[]}`
		s := &slow{to: stubs{"a": own, "b": simple("t")}.dial, take: map[string]time.Duration{"b": 10 * time.Second}}
		d := &dialled{to: s.dial}
		c, _, _ := run(t, d.dial, proxy.Options{Servers: cached("a", "b")})
		begun := time.Now()
		c.result("tools/call", `{"name":"a__t"}`)
		c.result("prompts/get", `{"name":"a__p"}`)
		c.result("resources/read", `{"uri":"x://1"}`)
		if got := c.call("tools/call", `{"name":"a__other"}`); !strings.Contains(got, "unknown tool: a__other") {
			t.Errorf("got %s", got)
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("the calls waited for %v", took)
		}
		equal(t, "connected", d.who(), "a")
		// And while the other one is being connected for somebody else.
		list := c.begin(`"l"`, "tools/list", `{}`)
		synctest.Wait()
		c.result("tools/call", `{"name":"a__t"}`)
		c.result("resources/read", `{"uri":"x://1"}`)
		if took := time.Since(begun); took > 0 {
			t.Errorf("the calls waited for %v", took)
		}
		if got := <-list; !strings.Contains(got, "a__t") || !strings.Contains(got, "b__t") {
			t.Errorf("the list after a call: got %s", got)
		}
	})
}

// TestHiddenOwners: where a name's beginning does not tell whose it is, all that
// are not known are asked.
func TestHiddenOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("long-", 8) + "name"
		servers := stubs{"a": simple("t"), long: simple("t", "u"), "b": simple("deep")}
		c, _, _ := run(t, servers.dial, proxy.Options{Servers: proxy.Named("a", long)})
		names, _ := offered(c)
		d := &dialled{to: servers.dial}
		c, _, _ = run(t, d.dial, proxy.Options{Servers: cached("a", long)})
		c.result("tools/call", `{"name":"`+names[1]+`"}`)
		equal(t, "for a name with a hash", d.who(), long)
		c, _, _ = run(t, d.dial, proxy.Options{Servers: proxy.Named("a", "b"), NoPrefix: true})
		c.result("tools/call", `{"name":"deep"}`)
		equal(t, "for a name without a server's", d.who(), "a", "b")
	})
}

// TestRefresh: a second after the first list, servers are connected of which
// nothing but what is stored is known, four at a time, and clients are told of
// what is new; not those that are to stay as they are, and not those that any
// process has seen lately.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &memory{}
		servers := stubs{}
		var names []string
		for i := range 10 {
			name := string(rune('a' + i))
			names, servers[name] = append(names, name), simple("t")
		}
		o := proxy.Options{Servers: digested(names...), Store: stored}
		o.Servers[1].Start = proxy.StartCached
		d := &dialled{to: servers.dial}
		begin := func() (*client, func()) {
			c, _, end := run(t, d.dial, o)
			return c, end
		}
		c, end := begin()
		offered(c)
		end()
		d.who()

		time.Sleep(9 * time.Minute)
		c, end = begin()
		offered(c)
		time.Sleep(30 * time.Second)
		equal(t, "what was seen lately", d.who())
		end()

		time.Sleep(time.Minute)
		servers["c"].answers["tools/list"] = `{"tools":[{"name":"new"}]}`
		s := &slow{to: servers.dial, take: map[string]time.Duration{}}
		for _, name := range names {
			s.take[name] = time.Second
		}
		d.to = s.dial
		c, end = begin()
		time.Sleep(time.Minute)
		equal(t, "before any list", d.who())
		got, _ := offered(c)
		if len(got) != 10 || got[2] != "c__t" {
			t.Errorf("got %v", got)
		}
		time.Sleep(time.Second - 1)
		equal(t, "at once", d.who())
		time.Sleep(3*time.Second + 2)
		equal(t, "in the background", d.who(), "a", "c", "d", "e", "f", "g", "h", "i", "j")
		s.mu.Lock()
		most := s.most
		s.mu.Unlock()
		if most != 4 {
			t.Errorf("%d were connected at once, want 4", most)
		}
		if note := <-c.notes; !strings.Contains(note, "tools/list_changed") {
			t.Errorf("got %s", note)
		}
		if got, _ = offered(c); got[2] != "c__new" || got[1] != "b__t" {
			t.Errorf("got %v", got)
		}
		end()
	})
}

// TestRefreshByAnother: what another process has seen of a server meanwhile is
// taken over, in place of connecting it.
func TestRefreshByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &memory{}
		servers := stubs{"a": simple("t")}
		o := proxy.Options{Servers: digested("a"), Store: stored}
		c, _, end := run(t, servers.dial, o)
		offered(c)
		end()
		time.Sleep(time.Hour)
		d := &dialled{to: stubs{}.dial}
		c, _, _ = run(t, d.dial, o) // has read what is stored
		servers["a"].answers["tools/list"] = `{"tools":[{"name":"new"}]}`
		other, _, end := run(t, servers.dial, o)
		other.result("tools/call", `{"name":"a__new"}`)
		end()
		if got, _ := offered(c); len(got) != 1 || got[0] != "a__t" {
			t.Errorf("got %v", got)
		}
		time.Sleep(2 * time.Second)
		if got, _ := offered(c); len(got) != 1 || got[0] != "a__new" {
			t.Errorf("got %v", got)
		}
		equal(t, "connected", d.who())
	})
}

// TestRefreshFails: a server that cannot be connected stays listed as it was,
// and is tried again with the lists that follow, but not with each.
func TestRefreshFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &memory{}
		o := proxy.Options{Servers: digested("a"), Store: stored}
		c, _, end := run(t, stubs{"a": simple("t")}.dial, o)
		offered(c)
		end()
		time.Sleep(time.Hour)
		d := &dialled{to: stubs{}.dial}
		c, _, _ = run(t, d.dial, o)
		tried := 0
		for range 60 {
			if got, partial := offered(c); len(got) != 1 || partial != "" {
				t.Fatalf("got %v, %s", got, partial)
			}
			time.Sleep(2 * time.Second)
			tried += len(d.who())
		}
		if tried != 3 { // at 1 s, about 30 s and about 60 s later
			t.Errorf("tried %d times in two minutes of lists, want 3", tried)
		}
	})
}

// TestFailedListIsAskedAgain: a list that cannot be had stays as it was, and is
// asked for again, later and later, without anybody's doing.
func TestFailedListIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := simple("t")
		a.capabilities = `{"tools":{},"prompts":{}}`
		a.answers["prompts/list"] = `{"prompts":[{"name":"p"}]}`
		counted := &counting{stub: a}
		c, _, _ := run(t, counted.dial, proxy.Options{Servers: proxy.Named("a")})
		prompts := func() string { return c.result("prompts/list", `{}`) }
		const good = `{"prompts":[{"name":"a__p"}]}`
		if got := prompts(); got != good {
			t.Errorf("got %s", got)
		}
		counted.set("prompts/list", `error {"code":-32603,"message":"no"}`)
		counted.h.Notification(t.Context(), nil, "notifications/prompts/list_changed", nil)
		time.Sleep(time.Second)
		if got := prompts(); !strings.HasPrefix(got, good[:len(good)-1]) || !strings.Contains(got, `"dev.mcpctl/partial":[{"server":"a"`) {
			t.Errorf("got %s", got)
		}
		before := counted.of("prompts/list")
		time.Sleep(3*time.Minute + 31*time.Second) // 30, 60 and 120 s later, or up to a quarter earlier
		if n := counted.of("prompts/list") - before; n != 3 {
			t.Errorf("asked %d times, want 3", n)
		}
		counted.set("prompts/list", `{"prompts":[{"name":"q"}]}`)
		time.Sleep(5 * time.Minute) // it is idle and disconnected meanwhile
		prompts()
		time.Sleep(2 * time.Second)
		if got := prompts(); got != `{"prompts":[{"name":"a__q"}]}` {
			t.Errorf("got %s", got)
		}
		before = counted.of("prompts/list")
		time.Sleep(time.Hour)
		if n := counted.of("prompts/list") - before; n != 0 {
			t.Errorf("asked %d times for what is there", n)
		}
	})
}

// TestListIsAskedOnceMore: where the server gives no answer to a list, it is
// asked again, once.
func TestListIsAskedOnceMore(t *testing.T) {
	for lost, want := range map[int]string{1: `[{"name":"a__t","inputSchema":{"type":"object"}}]`, 2: `"dev.mcpctl/partial":[{"server":"a","kind":"protocol"}]`} {
		s := &counting{stub: simple("t"), lost: map[string]int{"tools/list": lost}}
		c, _, end := run(t, s.dial, proxy.Options{Servers: cached("a")})
		if got := c.call("tools/list", `{}`); !strings.Contains(got, want) {
			t.Errorf("%d: got %s, want %s", lost, got, want)
		}
		if n := s.of("tools/list"); n != 2 {
			t.Errorf("%d: asked %d times", lost, n)
		}
		end()
	}
}

// TestHangingList: a list that does not come costs its time, and not the other
// lists of the server.
func TestHangingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := simple("t")
		a.capabilities = `{"tools":{},"prompts":{}}`
		a.answers["prompts/list"] = `{"prompts":[{"name":"p"}]}`
		s := &counting{stub: a, hang: "tools/list"}
		c, _, _ := run(t, s.dial, proxy.Options{Servers: proxy.Named("a")})
		begun := time.Now()
		c.result("prompts/list", `{}`)
		c.result("prompts/list", `{}`)
		time.Sleep(time.Second)
		if got := c.result("prompts/list", `{}`); got != `{"prompts":[{"name":"a__p"}]}` {
			t.Errorf("got %s", got)
		}
		if got := c.result("tools/list", `{}`); !strings.Contains(got, `"tools":[],"_meta":{"dev.mcpctl/partial":[{"server":"a","kind":"timeout"}]}`) {
			t.Errorf("got %s", got)
		}
		if took := time.Since(begun); took != 31*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// counting is a server that counts requests by method.
type counting struct {
	*stub
	hang string         // a method that is never answered
	lost map[string]int // how many requests of a method end without an answer

	mu    sync.Mutex // guards count, and lost
	count map[string]int
}

func (s *counting) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	s.mu.Lock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[req.Method]++
	lost := s.lost[req.Method] > 0
	if lost {
		s.lost[req.Method]--
	}
	s.mu.Unlock()
	if lost {
		return nil, &runtime.ProtocolError{Reason: req.Method + ": the server ended its answer before the result"}
	}
	if req.Method == s.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.stub.Call(ctx, req)
}

func (s *counting) of(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[method]
}

func (s *counting) set(method, answer string) {
	s.stub.mu.Lock()
	defer s.stub.mu.Unlock()
	s.answers[method] = answer
}

func (s *counting) dial(_ context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	s.stub.mu.Lock()
	s.h = h
	s.stub.mu.Unlock()
	return runtime.NewClient(s, runtime.ClientOptions{Info: runtime.ServerInfo{
		Version: s.version, Capabilities: json.RawMessage(s.capabilities), Implementation: runtime.Implementation{Name: key.Server, Version: "1"},
	}}), nil
}
