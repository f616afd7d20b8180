package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// office are two servers with a few tools.
func office() map[string]*runtimetest.Server {
	echo := func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"done"}],"structuredContent":{"got":` + string(c.Arguments) + `}}`), nil
	}
	tool := func(definition string) runtimetest.Tool {
		return runtimetest.Tool{Definition: json.RawMessage(definition), Call: echo}
	}
	serverRequests, shop := runtimetest.New(), runtimetest.New()
	serverRequests.Tools = []runtimetest.Tool{
		tool(`{"name":"create_issue","description":"Opens a new issue.","inputSchema":{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"n":{"type":"integer"}}}}`),
		tool(`{"name":"list_issues","description":"Lists issues.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`),
	}
	shop.Tools = []runtimetest.Tool{tool(`{"name":"refund","description":"Gives the money back.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)}
	return map[string]*runtimetest.Server{"desk": serverRequests, "shop": shop}
}

func searching(form views.Form) proxy.Options {
	return proxy.Options{Servers: []proxy.Server{{Name: "desk", TrustAnnotations: true}, {Name: "shop"}}, Search: proxy.Search{List: form}}
}

// listedNames returns the names in a list of tools.
func listedNames(t *testing.T, result string) string {
	t.Helper()
	var page struct{ Tools []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(result), &page))
	var all []string
	for _, tool := range page.Tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

// said returns the text of a result.
func said(t *testing.T, result string) string {
	t.Helper()
	var r struct{ Content []struct{ Text string } }
	require.NoError(t, json.Unmarshal([]byte(result), &r))
	var text string
	for _, c := range r.Content {
		text += c.Text
	}
	return text
}

const hi = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`

func TestSearchMode(t *testing.T) {
	_, c := start(t, &backends{servers: office()}, searching(views.ListSearch))
	c.result("initialize", hi)
	list := c.result("tools/list", `{}`)
	if got := listedNames(t, list); got != "search_tools call_tool call_read_tool" {
		t.Errorf("got %s", list)
	}
	if !strings.Contains(list, "Servers here: desk (2 tools), shop (1).") {
		t.Errorf("the servers are not named: %s", list)
	}
	find := func(query string) string {
		return said(t, c.result("tools/call", `{"name":"search_tools","arguments":{"queries":["`+query+`"],"limit":1}}`))
	}
	if got := find("money back"); !strings.HasPrefix(got, "shop__refund()  Gives the money back.\n") {
		t.Errorf("got %s", got)
	}
	if got := find("desk__create-issue"); !strings.HasPrefix(got, "desk__create_issue(title:string, n?:integer)  Opens a new issue.") {
		t.Errorf("got %s", got)
	}
	const direct = `{"name":"desk__create_issue","arguments":{"title":"t","n":9007199254740993}}`
	want := c.result("tools/call", direct)
	if got := c.result("tools/call", `{"name":"call_tool","arguments":`+direct+`}`); got != want || !strings.Contains(got, "9007199254740993") {
		t.Errorf("got %s, directly %s", got, want)
	}
	for call, part := range map[string]string{
		`{"name":"call_read_tool","arguments":{"name":"desk__list_issues"}}`:                             `"done"`,
		`{"name":"call_read_tool","arguments":{"name":"desk__create_issue","arguments":{"title":"t"}}}`:  `desk__create_issue is not known to change nothing: use call_tool.`,
		`{"name":"call_read_tool","arguments":{"name":"shop__refund"}}`:                                  `shop__refund is not known to change nothing`, // nobody vouches for its annotations
		`{"name":"call_tool","arguments":{"name":"desk__create_issue","arguments":{"title":7}}}`:         `at /arguments/title: `,
		`{"name":"call_tool","arguments":{"name":"desk__create_issue"}}`:                                 `desk__create_issue(title:string, n?:integer)`,
		`{"name":"call_tool","arguments":{"name":"call_tool","arguments":{"name":"desk__list_issues"}}}`: `"isError":true`,
		`{"name":"call_tool"}`:                              `want {\"name\":\"…\"`,
		`{"name":"search_tools","arguments":{"queries":7}}`: `"isError":true`,
		`{"name":"search_tools"}`:                           `Servers here`,
	} {
		if got := c.result("tools/call", call); !strings.Contains(got, part) {
			t.Errorf("%s: got %s, want %s", call, got, part)
		}
	}
	// What nobody has is unknown in the words of a direct call.
	for _, name := range []string{"desk__none", "nobody__none", "none"} {
		inside, direct := c.call("tools/call", `{"name":"call_tool","arguments":{"name":"`+name+`"}}`), c.call("tools/call", `{"name":"`+name+`"}`)
		if inside[strings.Index(inside, `"error"`):] != direct[strings.Index(direct, `"error"`):] || !strings.Contains(inside, "-32602") {
			t.Errorf("got %s, directly %s", inside, direct)
		}
	}
}

// TestSearchModeModern is the same for the stateless era, over HTTP and standard input.
func TestSearchModeModern(t *testing.T) {
	w := serveJuly(t, searching(views.ListSearch), office())
	r := w.call("tools/list", `{}`, `{}`)
	if listedNames(t, string(r.Result)) != "search_tools call_tool call_read_tool" || !strings.Contains(r.raw, `"resultType":"complete"`) {
		t.Errorf("got %s", r.raw)
	}
	r = w.call("tools/call", `{"name":"search_tools","arguments":{"queries":["money back"]}}`, `{}`)
	if !strings.HasPrefix(said(t, string(r.Result)), "shop__refund()") || !strings.Contains(string(r.Result), `"resultType":"complete"`) {
		t.Errorf("got %s", r.raw)
	}
	direct := w.call("tools/call", `{"name":"shop__refund","arguments":{"n":1.0}}`, `{}`)
	inside := w.call("tools/call", `{"name":"call_tool","arguments":{"name":"shop__refund","arguments":{"n":1.0}}}`, `{}`)
	if string(direct.Result) != string(inside.Result) || !strings.Contains(inside.raw, "1.0") {
		t.Errorf("got %s, directly %s", inside.raw, direct.raw)
	}
	r = w.call("tools/call", `{"name":"call_tool","arguments":{"name":"desk__create_issue","arguments":{}}}`, `{}`)
	if !strings.Contains(string(r.Result), `at /arguments/title`) || !strings.Contains(string(r.Result), `"isError":true`) || !strings.Contains(string(r.Result), "resultType") {
		t.Errorf("got %s", r.raw)
	}
}

// TestSearchNames: names of ours give way to those of servers.
func TestSearchNames(t *testing.T) {
	s := runtimetest.New()
	s.Tools = []runtimetest.Tool{{Definition: json.RawMessage(`{"name":"tool","inputSchema":{"type":"object"}}`), Call: office()["shop"].Tools[0].Call}, {Definition: json.RawMessage(`{"name":"mcpctl_search_tools","inputSchema":{"type":"object"}}`)}}
	for name, o := range map[string]proxy.Options{
		"call_tool mcpctl_search_tools mcpctl_call_tool mcpctl_call_read_tool":                                     {Separator: "_"},
		"tool mcpctl_search_tools mcpctl_mcpctl_search_tools mcpctl_mcpctl_call_tool mcpctl_mcpctl_call_read_tool": {NoPrefix: true},
	} {
		o.Servers, o.Search = proxy.Named("call"), proxy.Search{List: views.ListSearch}
		_, c := start(t, &backends{servers: map[string]*runtimetest.Server{"call": s}}, o)
		c.result("initialize", hi)
		if got := listedNames(t, c.result("tools/list", `{}`)); !strings.HasSuffix(name, got) || got == "" {
			t.Errorf("got %s, want %s", got, name)
		}
		first, _, _ := strings.Cut(name, " ")
		if got := c.result("tools/call", `{"name":"`+first+`"}`); !strings.Contains(got, "done") {
			t.Errorf("%s is not the server's: %s", first, got)
		}
	}
}

// TestSearchAuto: a list within the budget is whole, and a program that searches by itself
// has the whole list.
func TestSearchAuto(t *testing.T) {
	const own, all = "search_tools call_tool call_read_tool", "desk__create_issue desk__list_issues shop__refund"
	for _, tc := range []struct {
		client string
		budget int
		want   string
	}{{"c", 0, all}, {"c", 10, own}, {"claude-code", 10, all}} {
		o := searching(views.ListAuto)
		o.Search.Budget = tc.budget
		_, c := start(t, &backends{servers: office()}, o)
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+tc.client+`","version":"3"}}`)
		if got := listedNames(t, c.result("tools/list", `{}`)); got != tc.want {
			t.Errorf("%s, %d: got %s", tc.client, tc.budget, got)
		}
		// Every form can call every tool.
		if got := c.result("tools/call", `{"name":"call_tool","arguments":{"name":"shop__refund"}}`); !strings.Contains(got, "done") {
			t.Errorf("got %s", got)
		}
		w := serveJuly(t, o, office())
		r := w.send(request("1", "tools/list", `{}`, `{}`, `,"io.modelcontextprotocol/clientInfo":{"name":"`+tc.client+`","version":"3"}`))
		if got := listedNames(t, string(r.Result)); got != tc.want || !strings.Contains(r.raw, `"cacheScope":"private"`) {
			t.Errorf("%s, %d: got %s", tc.client, tc.budget, r.raw)
		}
	}
}

// TestSearchAutoChanges: where a list grows beyond the budget, its clients are told of a
// change and get the other list.
func TestSearchAutoChanges(t *testing.T) {
	m := handler(t, proxy.Options{Search: proxy.Search{List: views.ListAuto, Budget: 100}}, proxy.HTTPOptions{}, nil)
	id := m.session("2025-11-25")
	stream := m.listen(id, "")
	list := func() string {
		text := m.post(id, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).all()
		var answer struct{ Result json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &answer))
		return listedNames(t, string(answer.Result))
	}
	if got := list(); got != "a__x" {
		t.Fatalf("got %s", got)
	}
	for i, step := range []struct {
		tools int
		long  bool
	}{{20, true}, {1, false}} {
		var tools []string
		for n := range step.tools {
			tools = append(tools, fmt.Sprintf(`{"name":"x%d","inputSchema":{"type":"object"}}`, n))
		}
		m.back.offer(`{"tools":[` + strings.Join(tools, ",") + `]}`)
		m.back.handler.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
		e, err := stream.events.Next()
		for err == nil && len(e.Data) == 0 {
			e, err = stream.events.Next()
		}
		if err != nil || !strings.Contains(string(e.Data), "list_changed") {
			t.Fatalf("step %d: got %s, %v", i, e.Data, err)
		}
		if got := list(); strings.HasPrefix(got, "search_tools") != step.long {
			t.Errorf("step %d: got %s", i, got)
		}
	}
}

// TestListStatus: the status has what each list costs and the form that clients get, and
// whoever asks for it decides nothing.
func TestListStatus(t *testing.T) {
	o := searching(views.ListAuto)
	o.Search.Budget = 90
	o.Views = viewsOf(t, "", map[string]views.Config{
		"pinned": {List: views.ListSearch, Pin: []string{"shop__refund"}, Budget: 500},
		"reads":  {Tools: []string{"*list*"}},
	})
	release := make(chan struct{})
	p, c := start(t, &backends{servers: office(), hold: map[string]chan struct{}{"desk": release, "shop": release}}, o)
	before := p.Status().Lists // of nothing, which is in the budget: that is not remembered
	close(release)
	if len(before) != 3 || before[0].All != 0 || before[0].Chosen != views.ListAll {
		t.Errorf("before: %+v", before)
	}
	c.result("initialize", hi)
	if got := listedNames(t, c.result("tools/list", `{}`)); got != "search_tools call_tool call_read_tool" {
		t.Fatalf("got %s", got)
	}
	all := p.Status().Lists
	// The budget is within a fifth of the cost: who has had the list would keep it.
	if l := all[0]; l.View != "" || l.Budget != 90 || l.All <= 90 || l.All > 108 || l.Search < 200 || l.Chosen != views.ListSearch {
		t.Errorf("all: %+v", l)
	}
	if l := all[1]; l.View != "pinned" || l.Budget != 500 || l.All <= all[0].All || l.Search <= all[0].Search || l.Search >= all[0].Search+l.All || l.Chosen != views.ListSearch {
		t.Errorf("pinned: %+v, all: %+v", l, all[0])
	}
	if l := all[2]; l.View != "reads" || l.Budget != 0 || l.All >= all[0].All || l.Chosen != views.ListAll {
		t.Errorf("reads: %+v", l)
	}
}

// TestExpose: what a session has found joins its list, which it is told before the answer,
// on the stream of that. Other sessions and the stateless era are not concerned.
func TestExpose(t *testing.T) {
	o := proxy.Options{Search: proxy.Search{List: views.ListSearch, Expose: 2}}
	m := handler(t, o, proxy.HTTPOptions{}, nil)
	var tools []string
	for i := range 5 {
		tools = append(tools, fmt.Sprintf(`{"name":"x%d","inputSchema":{"type":"object"}}`, i))
	}
	m.back.offer(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	id, other := m.session("2025-11-25"), m.session("2025-11-25")
	search := func(id, name string) (events []string) {
		r := m.post(id, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_tools","arguments":{"queries":["`+name+`"],"limit":1}}}`)
		if !strings.Contains(r.head.Get("Content-Type"), "event-stream") {
			return []string{r.all()}
		}
		for e, err := r.events.Next(); err == nil; e, err = r.events.Next() {
			if len(e.Data) > 0 {
				events = append(events, string(e.Data))
			}
		}
		return events
	}
	list := func(id string) string {
		var answer struct{ Result json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(m.post(id, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).all()), &answer))
		return listedNames(t, string(answer.Result))
	}
	const own = " search_tools call_tool call_read_tool"
	if got := search(id, "a__x1"); len(got) != 2 || !strings.Contains(got[0], "notifications/tools/list_changed") || !strings.Contains(got[1], `"result":{"content"`) {
		t.Fatalf("got %q", got)
	}
	if got := list(id); got != "a__x1"+own {
		t.Errorf("got %s", got)
	}
	if got := search(id, "a__x1"); len(got) != 1 {
		t.Errorf("nothing is new, but: %q", got)
	}
	search(id, "a__x2")
	search(id, "a__x3")
	if got := list(id); got != "a__x3 a__x2"+own {
		t.Errorf("beyond the bound: got %s", got)
	}
	if got := list(other); " "+got != own {
		t.Errorf("another session: got %s", got)
	}
	body, head := request("1", "tools/call", `{"name":"search_tools","arguments":{"queries":["a__x1"]}}`, `{}`, "")
	var headers []string
	for name := range head {
		headers = append(headers, name, head.Get(name))
	}
	if got := m.post("", body, headers...).all(); strings.Contains(got, "list_changed") || !strings.Contains(got, "a__x1") {
		t.Errorf("stateless: got %s", got)
	}
	// On standard input the order is the same.
	c := attach(t, m.p)
	c.result("initialize", hi)
	order := make(chan string, 4)
	c.mu.Lock()
	c.note = func(line string) { order <- line }
	c.wait["9"] = order
	c.mu.Unlock()
	c.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search_tools","arguments":{"queries":["a__x4"],"limit":1}}}`)
	if first, second := <-order, <-order; !strings.Contains(first, "list_changed") || !strings.Contains(second, `"id":9`) {
		t.Errorf("got %s, then %s", first, second)
	}
	if got := listedNames(t, c.result("tools/list", `{}`)); got != "a__x4"+own {
		t.Errorf("got %s", got)
	}
}

// reloadsVariable says how often servers are replaced in TestSearchWhileServersChange.
const reloadsVariable = "MCPCTL_SEARCH_RELOADS"

// TestSearchWhileServersChange: 32 clients search while a server comes and goes. A search that
// begins when it is gone never finds it, and one that begins when it is there does; the other
// server is always found.
func TestSearchWhileServersChange(t *testing.T) {
	t.Parallel()
	reloads := 60
	if n, err := strconv.Atoi(os.Getenv(reloadsVariable)); err == nil {
		reloads = n
	}
	o := searching(views.ListSearch)
	p, c := start(t, &backends{servers: office()}, o)
	c.note = func(string) {}
	c.result("initialize", hi)
	c.result("tools/list", `{}`)
	const there, gone, stages = 0, 2, 4 // with one after each, in which it changes
	var stage atomic.Int64              // counts them
	ctx, stop := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	var sure [stages]atomic.Int64 // searches that were made while nothing changed
	for range 32 {
		c := attach(t, p)
		c.note = func(string) {}
		c.result("initialize", hi)
		crowd.Go(func() {
			for ctx.Err() == nil {
				before := stage.Load()
				line := c.call("tools/call", `{"name":"search_tools","arguments":{"queries":["money back","issues"],"limit":50}}`)
				has := strings.Contains(line, "shop")
				if !strings.Contains(line, "desk__list_issues") {
					t.Errorf("got %s", line)
				}
				if stage.Load() == before {
					sure[before%stages].Add(1)
					if before%stages == gone && has || before%stages == there && !has {
						t.Errorf("gone: %t, got %s", before%stages == gone, line)
					}
				}
			}
		})
	}
	for i := range reloads {
		stage.Add(1) // leaving, or coming
		_, err := p.Reconfigure(o.Servers[:1+i%2])
		require.NoError(t, err)
		if i%2 == 1 { // it is known again once it is listed
			c.result("tools/list", `{}`)
		}
		now := stage.Add(1)
		// There are some in between.
		for begun := sure[now%stages].Load(); sure[now%stages].Load() < begun+8 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	stop()
	crowd.Wait()
	t.Logf("%d reloads, %d searches without the server, %d with it", reloads, sure[gone].Load(), sure[there].Load())
}

// TestSearchRecords: a call inside another is recorded and decided about as the call that it
// is, with the tool that it came through; a tool that is hidden is in no answer.
func TestSearchRecords(t *testing.T) {
	j, log := journaled(t, recording.Options{})
	o := searching(views.ListSearch)
	o.Journal = j
	o.Gate = gated(t, allowAll+`@id("no-refunds") forbid (principal, action, resource == Tool::"shop/refund");`)
	p, c := start(t, &backends{servers: office()}, o)
	c.result("initialize", hi)
	if got := c.result("tools/list", `{}`); strings.Contains(got, "shop") {
		t.Errorf("a server of which nothing may be used is named: %s", got)
	}
	if got := c.result("tools/call", `{"name":"search_tools","arguments":{"queries":["shop__refund","money back","issues"]}}`); strings.Contains(got, "shop") || !strings.Contains(got, "desk__list_issues") {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"call_tool","arguments":{"name":"desk__create_issue","arguments":{"title":"t"}}}`)
	if got := c.call("tools/call", `{"name":"call_tool","arguments":{"name":"shop__refund"}}`); !strings.Contains(got, "-32602") {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"desk__create_issue","arguments":{"title":"t"}}`)
	c.end()
	_ = p.Close()
	closeJournal(t, j)
	var calls []string
	for _, r := range log.all() {
		if r.Kind == audit.KindCall {
			calls = append(calls, r.Target.Server+"/"+r.Target.Item+" "+r.Target.Through+" "+r.Decision.Verdict)
		}
	}
	if want := []string{"desk/create_issue call_tool allow", "shop/refund call_tool deny", "desk/create_issue  allow"}; !slices.Equal(calls, want) {
		t.Errorf("got %q, want %q", calls, want)
	}
}
