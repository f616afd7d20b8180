package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// searchWays are those of waysTo, each transport in each era.
var searchWays = []string{"stdio", "stdio, stateless", "session", "http, stateless", "sse"}

// TestSearchInView: on each way, a view that finds tools instead of listing them has its own
// names for them, shows its pinned tools, and has nothing of what it leaves out or what
// policies deny, in no text and no count. Hooks, policies and records see the call inside.
func TestSearchInView(t *testing.T) {
	t.Parallel()
	const canary = "canary-7731"
	for _, name := range searchWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := office()
			for _, hidden := range []string{"out", "denied"} {
				servers["desk"].Tools = append(servers["desk"].Tools, runtimetest.Tool{
					Definition: json.RawMessage(`{"name":"` + hidden + `","description":"Opens issues, ` + canary + `.","inputSchema":{"type":"object","properties":{"` + canary + `":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`),
					Call:       servers["desk"].Tools[0].Call,
				})
			}
			j, stored := journaled(t, recording.Options{})
			p, err := proxy.New(proxy.Options{
				Servers: searching("").Servers, Dial: (&backends{servers: servers}).dial, Journal: j,
				Gate: gated(t, allowAll+`@id("no") forbid (principal, action, resource == Tool::"desk/denied");`),
				Views: viewsOf(t, "v", map[string]views.Config{"v": {
					Tools: []string{"*", "!desk__out"}, List: views.ListSearch, Pin: []string{"shop__refund"},
					Override: map[string]views.Override{
						"search_tools": {Name: "search_available_tools"}, "call_tool": {Name: "run"}, "desk__create_issue": {Name: "file_bug"},
					},
				}}),
			})
			require.NoError(t, err)
			var mu sync.Mutex
			var hooked []string
			require.NoError(t, p.SetHooks(hookNamed("h", spy{request: func(c *proxy.HookCall) error {
				mu.Lock()
				defer mu.Unlock()
				hooked = append(hooked, c.Target.Exposed+" "+string(c.Params))
				return nil
			}})))
			w := waysTo(t, p)[name]()
			ask := func(method, params string) string {
				t.Helper()
				got := w.ask(t.Context(), method, params)
				if strings.Contains(got, canary) || strings.Contains(got, "desk__out") || strings.Contains(got, "desk__denied") {
					t.Errorf("%s %s: got %s", method, params, got)
				}
				return got
			}
			call := func(tool, arguments string) string {
				t.Helper()
				return ask("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
			}
			list := ask("tools/list", `{}`)
			for _, part := range []string{`"name":"shop__refund"`, `"name":"search_available_tools"`, `"name":"run"`, `"name":"call_read_tool"`, `desk (2 tools), shop (1)`, "use run.", "that search_available_tools has found"} {
				if !strings.Contains(list, part) {
					t.Errorf("%s is not in %s", part, list)
				}
			}
			if strings.Contains(list, "search_tools") || strings.Contains(list, "desk__") || strings.Count(list, `"inputSchema"`) != 4 {
				t.Errorf("got %s", list)
			}
			for query, want := range map[string]string{
				`{"queries":["open issues","` + canary + `","desk__out","desk__denied"],"limit":50}`: "file_bug(title:string, n?:integer)",
				`{"queries":[""],"server":"desk"}`:                                                   `file_bug  Opens a new issue.\ndesk__list_issues  Lists issues."`,
				`{"queries":["issue"],"limit":1,"detail":"schema"}`:                                  "for all 2 of it",
				`{"queries":["zzqx"]}`:                                                               "desk (2 tools)",
			} {
				if got := call("search_available_tools", query); !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", query, got, want)
				}
			}
			for inner, want := range map[string]string{
				`{"name":"file_bug","arguments":{"title":"t"}}`:           `"done"`,
				`{"name":"file_bug","arguments":{}}`:                      `at /arguments/title`,
				`{"name":"run","arguments":{"name":"desk__list_issues"}}`: `"isError":true`,
			} {
				if got := call("run", inner); !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", inner, got, want)
				}
			}
			for inner, want := range map[string]string{
				`{"name":"desk__list_issues"}`:                  `"done"`,
				`{"name":"file_bug","arguments":{"title":"t"}}`: `file_bug is not known to change nothing: use run.`,
				`{"name":"shop__refund"}`:                       `shop__refund is not known to change nothing: use run.`,
			} {
				if got := call("call_read_tool", inner); !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", inner, got, want)
				}
			}
			// What is hidden is answered as what nobody has, and the names that are replaced are nobody's.
			for _, tool := range []string{"out", "denied", "none"} {
				for _, through := range []string{"run", "call_read_tool"} {
					got := w.ask(t.Context(), "tools/call", `{"name":"`+through+`","arguments":{"name":"desk__`+tool+`"}}`)
					if !strings.Contains(got, `"code":-32602,"message":"unknown tool: desk__`+tool+`"`) || strings.Contains(got, canary) {
						t.Errorf("%s: got %s", tool, got)
					}
				}
			}
			for _, tool := range []string{"search_tools", "call_tool", "desk__create_issue"} {
				if got := call(tool, `{"name":"desk__list_issues","queries":["x"]}`); !strings.Contains(got, "-32602") {
					t.Errorf("%s: got %s", tool, got)
				}
			}
			w.end()
			_ = p.Close()
			closeJournal(t, j)
			slices.Sort(hooked)
			if want := []string{`desk__create_issue {"name":"file_bug","arguments":{"title":"t"}}`, `desk__list_issues {"name":"desk__list_issues","arguments":{}}`}; !slices.Equal(hooked, want) {
				t.Errorf("hooks were asked %q, want %q", hooked, want)
			}
			var calls []string
			for _, r := range stored.all() {
				if r.Kind == audit.KindCall && r.Decision.Verdict == audit.VerdictAllow {
					calls = append(calls, r.Target.Server+"/"+r.Target.Item+" "+r.Target.Through+" "+r.Target.View)
				}
			}
			slices.Sort(calls)
			if want := []string{"desk/create_issue call_tool v", "desk/list_issues call_read_tool v"}; !slices.Equal(calls, want) {
				t.Errorf("recorded %q, want %q", calls, want)
			}
		})
	}
}

// TestSearchWithoutPrefix: where tools have the names of their servers, those of ours have one
// of their own; a view may give them others.
func TestSearchWithoutPrefix(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]proxy.Options{
		"mcpctl_search_tools mcpctl_call_tool mcpctl_call_read_tool": {Search: proxy.Search{List: views.ListSearch}},
		"search_available_tools mcpctl_call_tool mcpctl_call_read_tool": {Views: viewsOf(t, "v", map[string]views.Config{"v": {
			List: views.ListSearch, Override: map[string]views.Override{"search_tools": {Name: "search_available_tools"}},
		}})},
	} {
		j, stored := journaled(t, recording.Options{})
		o.Servers, o.NoPrefix, o.Journal = searching("").Servers, true, j
		p, c := start(t, &backends{servers: office()}, o)
		c.result("initialize", hi)
		if got := listedNames(t, c.result("tools/list", `{}`)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		search, _, _ := strings.Cut(want, " ")
		if got := said(t, c.result("tools/call", `{"name":"`+search+`","arguments":{"queries":["money back"]}}`)); !strings.HasPrefix(got, "refund()") {
			t.Errorf("got %s", got)
		}
		if got := c.result("tools/call", `{"name":"mcpctl_call_tool","arguments":{"name":"refund"}}`); !strings.Contains(got, `"done"`) {
			t.Errorf("got %s", got)
		}
		if got := c.result("tools/call", `{"name":"mcpctl_call_read_tool","arguments":{"name":"refund"}}`); !strings.Contains(got, "use mcpctl_call_tool.") {
			t.Errorf("got %s", got)
		}
		c.end()
		_ = p.Close()
		closeJournal(t, j)
		if !slices.ContainsFunc(stored.all(), func(r audit.Record) bool { return r.Target.Item == "refund" && r.Target.Through == "call_tool" }) {
			t.Errorf("no record says that the call was made through call_tool: %+v", stored.all())
		}
	}
}

// TestSearchAutoAgrees: while a catalog grows and shrinks around the budget, a session keeps
// the form of its list, and sessions that begin and requests that stand alone have the form
// that they have at a replica with another history. A client that searches by itself has all.
func TestSearchAutoAgrees(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tools := func(n int) string {
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf(`{"name":"a__x%02d","inputSchema":{"type":"object"}}`, i))
			}
			return strings.Join(all, ",")
		}
		budget := tokens.Estimate([]byte(tools(10)))
		replica := func() *inMemory {
			return handler(t, proxy.Options{Search: proxy.Search{List: views.ListAuto, Budget: budget}}, proxy.HTTPOptions{}, nil)
		}
		searches := func(answer string) bool {
			var a struct{ Result json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(answer), &a))
			return listedNames(t, string(a.Result)) == "search_tools call_tool call_read_tool"
		}
		list := func(m *inMemory, session string) bool {
			t.Helper()
			return searches(m.post(session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).all())
		}
		alone := func(m *inMemory, client string) bool {
			t.Helper()
			body, head := request("1", "tools/list", `{}`, `{}`, `,"io.modelcontextprotocol/clientInfo":{"name":"`+client+`","version":"3"}`)
			var headers []string
			for name := range head {
				headers = append(headers, name, head.Get(name))
			}
			return searches(m.post("", body, headers...).all())
		}
		one := replica()
		one.back.offer(`{"tools":[` + strings.ReplaceAll(tools(1), "a__", "") + `]}`)
		session := one.session("2025-11-25")
		for i, step := range []struct {
			tools       int
			long, keeps bool // for those who come, and for the session
		}{{9, false, false}, {10, false, false}, {11, true, false}, {13, true, true}, {11, true, true}, {9, false, true}, {7, false, false}, {11, true, false}, {20, true, true}} {
			one.back.offer(`{"tools":[` + strings.ReplaceAll(tools(step.tools), "a__", "") + `]}`)
			if i == 0 {
				list(one, session)
			}
			one.back.handler.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
			time.Sleep(time.Minute)
			if got := list(one, session); got != step.keeps {
				t.Errorf("step %d, %d tools: the session searches: %t", i, step.tools, got)
			}
			other := replica() // which has seen nothing of before
			other.back.offer(*one.back.tools.Load())
			for _, m := range []*inMemory{one, other} {
				if got := list(m, m.session("2025-11-25")); got != step.long {
					t.Errorf("step %d, %d tools: a session that begins searches: %t", i, step.tools, got)
				}
				if got := alone(m, "c"); got != step.long {
					t.Errorf("step %d, %d tools: a request that stands alone searches: %t", i, step.tools, got)
				}
				if alone(m, "claude-code") {
					t.Errorf("step %d: a client that searches by itself does not get all", i)
				}
			}
		}
	})
}
