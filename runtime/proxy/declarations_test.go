package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// code returns the text of a resource that was read.
func code(t *testing.T, result string) string {
	t.Helper()
	var r struct {
		Contents []struct {
			URI, MIMEType, Text string
			Meta                map[string]string `json:"_meta"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(result), &r))
	if len(r.Contents) != 1 {
		t.Fatalf("got %s", result)
	}
	if digest := r.Contents[0].Meta["dev.mcpctl/catalog"]; len(digest) < 70 || !strings.Contains(r.Contents[0].Text, "Catalog: "+digest+"\n") {
		t.Errorf("the digest %q is not in the head of %s", digest, r.Contents[0].Text)
	}
	return r.Contents[0].Text
}

// desks are two views of the office.
func desks(t *testing.T) *views.Set {
	t.Helper()
	return viewsOf(t, "", map[string]views.Config{
		"desk": {
			Clients: []string{"c"}, Tools: []string{"desk__*"}, Resources: []string{}, List: views.ListSearch,
			Override: map[string]views.Override{"desk__create_issue": {Name: "file_bug", Arguments: map[string]views.Argument{"n": {Hide: true}}}},
		},
		"shop": {Clients: []string{"d"}, Tools: []string{"shop__*"}},
	})
}

const ourCode = `mcpctl+view://desk/tools.ts`

// TestDeclarations: a client of a view is listed the view's tools as code, and can read them: as
// the view has them, whatever form its list has. The code of another view is as unknown as any
// other URI.
func TestDeclarations(t *testing.T) {
	b := &backends{servers: office()}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("desk", "shop"), Views: desks(t)})
	c.result("initialize", hi)
	if got := c.result("resources/list", `{}`); strings.Count(got, `{"uri":"mcpctl+view://desk/tools.`) != 4 || strings.Contains(got, "shop") {
		t.Errorf("got %s", got)
	}
	text := code(t, c.result("resources/read", `{"uri":"`+ourCode+`"}`))
	if !strings.Contains(text, `call("file_bug", args)`) || !strings.Contains(text, "  title: string;\n}") || !strings.Contains(text, "desk__list_issues") || strings.Contains(text, "refund") {
		t.Errorf("got %s", text)
	}
	unknown := c.call("resources/read", `{"uri":"mcpctl+none://x"}`)
	for _, uri := range []string{"mcpctl+view://shop/tools.ts", "mcpctl+view://none/tools.ts", "mcpctl+view:///tools.ts", "mcpctl+view://desk/tools.rb", "mcpctl+view://desk/"} {
		got := c.call("resources/read", `{"uri":"`+uri+`"}`)
		if want := strings.ReplaceAll(unknown, "mcpctl+none://x", uri); got[strings.Index(got, `"error"`):] != want[strings.Index(want, `"error"`):] {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestDeclarationsPolicy: what policies hide is not in the code, and what they deny of a view's
// servers is not either.
func TestDeclarationsPolicy(t *testing.T) {
	b := &backends{servers: office()}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("desk", "shop"), Views: desks(t), Gate: gated(t, `@id("all") permit (principal, action, resource);
@id("no") forbid (principal, action, resource == Tool::"desk/create_issue");`)})
	c.result("initialize", hi)
	if text := code(t, c.result("resources/read", `{"uri":"`+ourCode+`"}`)); strings.Contains(text, "file_bug") || strings.Contains(text, "create_issue") || !strings.Contains(text, "desk__list_issues") {
		t.Errorf("got %s", text)
	}
}

// TestDeclarationsModern: the same for the stateless era, in which the result may be kept by its
// client alone, and what is offered has resources even if no server has.
func TestDeclarationsModern(t *testing.T) {
	w := serveJuly(t, proxy.Options{Servers: proxy.Named("desk", "shop"), Views: viewsOf(t, "desk", map[string]views.Config{"desk": {Tools: []string{"desk__*"}}})}, office())
	if r := w.call("resources/list", `{}`, `{}`); strings.Count(string(r.Result), `mcpctl+view://desk/`) != 4 {
		t.Errorf("got %s", r.raw)
	}
	if r := w.call("server/discover", `{}`, `{}`); !strings.Contains(string(r.Result), `"resources":{`) {
		t.Errorf("got %s", r.raw)
	}
	r := w.call("resources/read", `{"uri":"`+ourCode+`"}`, `{}`)
	if text := code(t, string(r.Result)); !strings.Contains(text, "desk__create_issue") || strings.Contains(text, "refund") {
		t.Errorf("got %s", text)
	}
	if !strings.Contains(string(r.Result), `"resultType":"complete"`) || !strings.Contains(string(r.Result), `"cacheScope":"private"`) {
		t.Errorf("got %s", r.raw)
	}
}

// TestNoDeclarations: without a view there are none.
func TestNoDeclarations(t *testing.T) {
	for name, o := range map[string]proxy.Options{"no views": {}, "views of others": {Views: viewsOf(t, "", map[string]views.Config{"desk": {Clients: []string{"d"}}})}} {
		b := &backends{servers: office()}
		o.Servers = proxy.Named("desk", "shop")
		_, c := start(t, b, o)
		c.result("initialize", hi)
		if got := c.result("resources/list", `{}`); strings.Contains(got, "mcpctl+view") {
			t.Errorf("%s: got %s", name, got)
		}
		if got := c.call("resources/read", `{"uri":"`+ourCode+`"}`); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// shelf is a server with n tools.
func shelf(n int) *stub {
	return &stub{version: "2025-11-25", capabilities: `{"tools":{"listChanged":true}}`, answers: map[string]string{"tools/list": shelfOf(n)}}
}

func shelfOf(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"name":"tool%d","description":"Does %d.","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}}`, i, i)
	}
	return `{"tools":[` + strings.Join(all, ",") + `]}`
}

// TestDeclarationsKept: code that has not changed since it was last read is not written again.
func TestDeclarationsKept(t *testing.T) {
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("a"), Dial: stubs{"a": shelf(300)}.dial, Views: viewsOf(t, "v", map[string]views.Config{"v": {}})})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	read := func(l string) string { return c.result("resources/read", `{"uri":"mcpctl+view://v/tools.`+l+`"}`) }
	first := read("ts")
	if text := code(t, first); !strings.Contains(text, "a__tool299") {
		t.Fatalf("got %s", text)
	}
	again := testing.AllocsPerRun(20, func() {
		if read("ts") != first {
			t.Error("it has changed")
		}
	})
	other := testing.AllocsPerRun(5, func() { _, _ = read("py"), read("ts") })
	if again > other/20 {
		t.Errorf("%.0f allocations to read it again, %.0f to write two", again, other)
	}
	if py := read("py"); !strings.Contains(py, "def a__tool299") || read("ts") != first {
		t.Errorf("got %.300s", py)
	}
}

// TestDeclarationsFollow: clients that read code while its tools and policies change get what one list had, and then the
// last.
func TestDeclarationsFollow(t *testing.T) {
	t.Parallel()
	a, g := shelf(3), gated(t, allowAll)
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("a"), Dial: stubs{"a": a}.dial, Gate: g, Views: viewsOf(t, "v", map[string]views.Config{"v": {}, "w": {Tools: []string{"a__tool1"}}})})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	c.result("tools/list", `{}`)
	changed := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 4 {
		one := attach(t, p)
		one.note = func(string) {}
		readers.Go(func() {
			defer one.end()
			one.result("initialize", greeting)
			read := func() string {
				return code(t, one.result("resources/read", `{"uri":"mcpctl+view://v/tools.`+[]string{"ts", "py"}[i%2]+`"}`))
			}
			for done := false; !done; {
				select {
				case <-changed:
					done = true
				default:
				}
				if text := read(); !strings.Contains(text, "a__tool0") {
					t.Errorf("got %s", text)
					return
				}
			}
			if text := read(); strings.Contains(text, "a__tool1") || !strings.Contains(text, "a__tool23") {
				t.Errorf("got %s", text)
			}
		})
	}
	c.note = func(string) {}
	for n := range 20 {
		a.mu.Lock()
		a.answers["tools/list"] = shelfOf(5 + n)
		h := a.h
		a.mu.Unlock()
		h.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
		g.Replace(gate.Config{Set: policies(t, allowAll+[]string{``, `@id("no") forbid (principal, action, resource) when {resource.name like "tool1*"};`}[n%2])})
		p.Repolicy()
	}
	wait.Until(t, "the last list", func() bool { return strings.Contains(c.result("tools/list", `{}`), "a__tool23") })
	close(changed)
	readers.Wait()
}
