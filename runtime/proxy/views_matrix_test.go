package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// triple is a server with three of each kind: one in the view of tripled, one outside, and one that
// is in it and that policies deny.
func triple() *stub {
	each := func(member, of string) string {
		var all []string
		for _, name := range []string{"in", "out", "deny"} {
			all = append(all, strings.ReplaceAll(of, "N", name))
		}
		return `{"` + member + `":[` + strings.Join(all, ",") + `]}`
	}
	return &stub{version: "2025-11-25", capabilities: `{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{}}`, answers: map[string]string{
		"tools/list":               each("tools", `{"name":"N","description":"canary-N","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://gh/N"}}}`),
		"prompts/list":             each("prompts", `{"name":"N"}`),
		"resources/list":           each("resources", `{"uri":"repo://N","name":"N"}`),
		"resources/templates/list": each("resourceTemplates", `{"uriTemplate":"N://{x}","name":"N"}`),
		"tools/call":               `{"content":[]}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`,
		"completion/complete": `{"completion":{"values":["v"]}}`, "resources/subscribe": `{}`,
	}}
}

const triplePolicies = allowAll + `
@id("no-tool") forbid (principal, action == Action::"call", resource == Tool::"gh/deny") when {context.front != "none"};
@id("no-prompt") forbid (principal, action == Action::"get", resource == Prompt::"gh/deny") when {context.front != "none"};
@id("no-read") forbid (principal, action == Action::"read", resource is Resource) when {context.front != "none" && resource.uri like "*deny*"};`

// tripled is a proxy before triple, through a view with a form of list.
func tripled(t *testing.T, form views.Form, o proxy.Options) (*proxy.Proxy, *stub) {
	t.Helper()
	s := triple()
	o.Dial, o.Info, o.Servers = stubs{"gh": s}.dial, runtime.Implementation{Name: "mcpctl", Version: "1"}, proxy.Named("gh")
	o.Gate = gated(t, triplePolicies)
	o.Views = viewsOf(t, "v", map[string]views.Config{"v": {
		List: form, Tools: []string{"!gh__out"}, Prompts: []string{"!gh__out"}, Resources: []string{"!repo://out*", "!out*", "!ui://gh/out"},
	}})
	p, err := proxy.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p, s
}

// TestViewMatrix: each surface, on each way in its era: what is inside the view works; what is
// outside is answered in the words for what nobody has; what policies deny is denied. The server
// hears of nothing but what is inside.
func TestViewMatrix(t *testing.T) {
	t.Parallel()
	completion := func(ref string) string { return `{"ref":` + ref + `,"argument":{"name":"x","value":"v"}}` }
	surfaces := []struct {
		name, method, params      string // X stands for the name
		in, out, none, deny, form string
	}{
		{"call", "tools/call", `{"name":"X"}`, "gh__in", "gh__out", "gh__none", "gh__deny", ""},
		{"call as a task", "tools/call", `{"name":"X","task":{}}`, "", "gh__out", "gh__none", "gh__deny", ""},
		{"call with a dot", "tools/call", `{"name":"X"}`, "gh.in", "gh.out", "gh.none", "gh.deny", ""},
		{"bare Apps name", "tools/call", `{"name":"X"}`, "in", "out", "none", "deny", ""},
		{"call_tool", "tools/call", `{"name":"call_tool","arguments":{"name":"X"}}`, "gh__in", "gh__out", "gh__none", "gh__deny", "search"},
		{"call by name in search mode", "tools/call", `{"name":"X"}`, "gh__in", "gh__out", "gh__none", "gh__deny", "search"},
		{"search", "tools/call", `{"name":"search_tools","arguments":{"queries":["X"]}}`, "gh__in", "gh__out", "gh__none", "", "search"},
		{"prompt", "prompts/get", `{"name":"X"}`, "gh__in", "gh__out", "gh__none", "gh__deny", ""},
		{"resource", "resources/read", `{"uri":"X"}`, "repo://in", "repo://out", "repo://outer", "repo://deny", ""},
		{"link", "resources/read", `{"uri":"X"}`, "mcpctl+repo://gh///in", "mcpctl+repo://gh///out", "mcpctl+repo://gh///outer", "mcpctl+repo://gh///deny", ""},
		{"template", "resources/read", `{"uri":"X"}`, "in://7", "out://7", "outer://7", "deny://7", ""},
		{"subscribe", "resources/subscribe", `{"uri":"X"}`, "repo://in", "repo://out", "repo://outer", "repo://deny", ""},
		{"completion of a prompt", "completion/complete", completion(`{"type":"ref/prompt","name":"X"}`), "gh__in", "gh__out", "gh__none", "gh__deny", ""},
		{"completion of a resource", "completion/complete", completion(`{"type":"ref/resource","uri":"X"}`), "repo://in", "repo://out", "repo://outer", "repo://deny", ""},
		{"completion of a template", "completion/complete", completion(`{"type":"ref/resource","uri":"X"}`), "in://{x}", "out://{x}", "outer://{x}", "", ""},
	}
	id := regexp.MustCompile(`"id":("x"|\d+)`)
	for _, name := range append(slices.Clone(ways), "sse") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clients, servers := map[string]*way{}, []*stub{}
			for _, form := range []string{"", "search"} {
				p, s := tripled(t, views.Form(form), proxy.Options{})
				w := waysTo(t, p)[name]()
				t.Cleanup(w.end)
				w.ask(t.Context(), "tools/call", `{"name":"gh__in"}`) // the server is connected, and what it has is known
				clients[form], servers = w, append(servers, s)
			}
			for _, s := range surfaces {
				if w := clients[s.form]; s.method != "resources/subscribe" || w.era != "2026-07-28" {
					ask := func(name string) string {
						got := w.ask(t.Context(), s.method, strings.ReplaceAll(s.params, "X", name))
						return strings.ReplaceAll(id.ReplaceAllString(got, `"id":0`), name, "X")
					}
					unknown := ask(s.none)
					t.Run(s.name+"/inside", func(t *testing.T) {
						if got := ask(s.in); s.in != "" && (!strings.Contains(got, `"result"`) || got == unknown || strings.Contains(got, `"isError":true`)) {
							t.Errorf("got %s", got)
						}
					})
					t.Run(s.name+"/outside", func(t *testing.T) {
						switch got := ask(s.out); {
						case s.name == "search": // other words, another order
							if strings.Contains(got, "X(") || strings.Contains(got, "canary-out") || strings.Count(got, "canary") != 2 {
								t.Errorf("got %s", got)
							}
						case got != unknown:
							t.Errorf("got  %s\nwant %s", got, unknown)
						}
					})
					t.Run(s.name+"/denied", func(t *testing.T) {
						if got := ask(s.deny); s.deny != "" && !strings.Contains(got, `"code":-31009`) {
							t.Errorf("got %s", got)
						}
					})
				}
			}
			for method, want := range map[string][2]string{
				"tools/list": {`"gh__in" "gh__deny"`, "gh__out"}, "prompts/list": {`"gh__in" "gh__deny"`, "gh__out"},
				"resources/list": {`"repo://in" "repo://deny"`, "repo://out"}, "resources/templates/list": {`"in://{x}" "deny://{x}"`, "out://"},
			} {
				t.Run("list/"+method, func(t *testing.T) {
					got := clients[""].ask(t.Context(), method, `{}`)
					for has := range strings.FieldsSeq(want[0]) {
						if !strings.Contains(got, has) {
							t.Errorf("lacks %s: %s", has, got)
						}
					}
					if strings.Contains(got, want[1]) || strings.Contains(got, "canary-out") {
						t.Errorf("got %s", got)
					}
				})
			}
			t.Run("nothing outside reaches the server", func(t *testing.T) {
				for _, s := range servers {
					s.mu.Lock()
					defer s.mu.Unlock()
					for _, sent := range s.seen {
						if strings.Contains(sent, "out") || strings.Contains(sent, "deny") {
							t.Errorf("got %s", sent)
						}
					}
				}
			})
		})
	}
}

// TestViewCompletionDenied: a template of which policies let nobody read anything is not completed,
// nor is a prompt that they let nobody get, on each way. A condition on a resource's URI says nothing
// of a template, which has none yet.
func TestViewCompletionDenied(t *testing.T) {
	t.Parallel()
	for _, name := range append(slices.Clone(ways), "sse") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := triple()
			p, err := proxy.New(proxy.Options{
				Dial: stubs{"gh": s}.dial, Servers: proxy.Named("gh"),
				Gate:  gated(t, allowAll+`@id("no") forbid (principal, action in [Action::"read", Action::"get"], resource in Server::"gh") when {context.front != "none"};`),
				Views: viewsOf(t, "v", map[string]views.Config{"v": {Tools: []string{"*"}}}),
			})
			require.NoError(t, err)
			defer p.Close()
			w := waysTo(t, p)[name]()
			defer w.end()
			for _, ref := range []string{`{"type":"ref/resource","uri":"in://{x}"}`, `{"type":"ref/prompt","name":"gh__in"}`} {
				if got := w.ask(t.Context(), "completion/complete", `{"ref":`+ref+`,"argument":{"name":"x","value":"v"}}`); !strings.Contains(got, `"code":-31009`) {
					t.Errorf("%s: got %s", ref, got)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, sent := range s.seen {
				if strings.HasPrefix(sent, "completion/complete") {
					t.Errorf("got %s", sent)
				}
			}
		})
	}
}

// TestViewPages: the pages of a view are those of a server that has nothing else, on each way.
func TestViewPages(t *testing.T) {
	t.Parallel()
	for _, name := range append(slices.Clone(ways), "sse") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := tripled(t, "", proxy.Options{PageSize: 1})
			w := waysTo(t, p)[name]()
			defer w.end()
			for method, want := range map[string]string{"tools/list": "[gh__deny gh__in]", "prompts/list": "[gh__deny gh__in]", "resources/list": "[gh__deny gh__in tools.ts tools.d.ts tools.py tools.go]", "resources/templates/list": "[gh__deny gh__in]"} {
				var names []string
				for cursor := `{}`; cursor != "" && len(names) < 9; {
					got := w.ask(t.Context(), method, cursor)
					var page struct {
						Result struct {
							Tools, Prompts, Resources, ResourceTemplates []struct{ Name string }
							NextCursor                                   string
						}
					}
					_, body, _ := strings.Cut(got, "{")
					require.NoError(t, json.Unmarshal([]byte("{"+strings.TrimSpace(body)), &page))
					r := &page.Result
					for _, it := range slices.Concat(r.Tools, r.Prompts, r.Resources, r.ResourceTemplates) {
						names = append(names, it.Name)
					}
					if cursor = ""; r.NextCursor != "" {
						cursor = fmt.Sprintf(`{"cursor":%q}`, r.NextCursor)
					}
				}
				if fmt.Sprint(names) != want {
					t.Errorf("%s: got %v, want %s", method, names, want)
				}
			}
		})
	}
}

// TestViewListens: a listen of the stateless era that names a resource outside the view is
// acknowledged as one that nobody has, and nobody hears of its updates.
func TestViewListens(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.Full("2025-11-25")
			p := newPool(map[string]*runtimetest.Server{"a": s}).serve(t, proxy.Options{Views: viewsOf(t, "v", map[string]views.Config{"v": {Resources: []string{"!fake://no*"}}})})
			open := map[string]func(*testing.T, *proxy.Proxy) listening{"stdio": listensOnStdio, "http": listensOverHTTP}[over](t, p)
			first := func(uri string) string {
				heard, end := open(uri)
				defer end()
				return <-heard
			}
			if got, unknown := first(`"fake://note"`), first(`"fake://nope"`); got != unknown || strings.Contains(got, "fake://") || !strings.Contains(got, "acknowledged") {
				t.Errorf("got %s, of what is unknown %s", got, unknown)
			}
			heard, end := open(`"fake://note","fake://blob"`)
			defer end()
			if got := <-heard; strings.Contains(got, "fake://note") || !strings.Contains(got, "fake://blob") {
				t.Errorf("got %s", got)
			}
			s.Touch("fake://note")
			s.Touch("fake://blob")
			if got := <-heard; !strings.Contains(got, "fake://blob") || !strings.Contains(got, "resources/updated") {
				t.Errorf("got %s", got)
			}
		})
	}
}

// listening begins a listen for resources, a list of quoted URIs. What is heard comes until end is called.
type listening func(uris string) (heard <-chan string, end func())

const listenParams = `{"notifications":{"resourceSubscriptions":[URIS]}}`

func listensOnStdio(t *testing.T, p *proxy.Proxy) listening {
	t.Helper()
	c := attach(t, p)
	return func(uris string) (<-chan string, func()) {
		c.send(julyLine(`"same"`, "subscriptions/listen", strings.Replace(listenParams, "URIS", uris, 1), `{}`, ""))
		return c.notes, func() {
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"same"}}`)
		}
	}
}

func listensOverHTTP(t *testing.T, p *proxy.Proxy) listening {
	t.Helper()
	w := julyTo(t, p)
	return func(uris string) (<-chan string, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		body, head := request(`"same"`, "subscriptions/listen", strings.Replace(listenParams, "URIS", uris, 1), `{}`, "")
		resp := w.open(ctx, body, head)
		heard := make(chan string, 16)
		go func() { // ends with ctx
			defer close(heard)
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					heard <- data
				}
			}
		}()
		return heard, cancel
	}
}

// TestViewTasks: a task whose tool the client's view shows no more is an unknown one.
func TestViewTasks(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s, tasks := taskServer([]string{runtimetest.RevJuly}, "required")
			defer tasks.Close()
			set := func(tools ...string) *views.Set {
				return viewsOf(t, "v", map[string]views.Config{"v": {Tools: tools}})
			}
			p := tasksEndpoint(t, map[string]*runtimetest.Server{"a": s}, proxy.Options{Views: set("*")})
			defer p.Close()
			var ask func(method, members string) string
			if over == "stdio" {
				c := attach(t, p)
				defer c.end()
				ask = func(method, members string) string { return c.call(method, modern(takesTasks, ","+members)) }
			} else {
				w := julyTo(t, p)
				ask = func(method, members string) string {
					body, head := request("1", method, "{"+members+"}", takesTasks, "")
					if id := cutOut(members, `"taskId":"`, `"`); id != "" {
						head.Set("Mcp-Name", id)
					}
					return w.send(body, head).raw
				}
			}
			tool := cutOut(ask("tools/list", `"x":1`), `"name":"`, `"`)
			id := cutOut(ask("tools/call", `"name":"`+tool+`","arguments":{}`), `"taskId":"`, `"`)
			about := `"taskId":"` + id + `"`
			if got := ask("tasks/get", about); id == "" || !strings.Contains(got, `"status"`) {
				t.Fatalf("got %s", got)
			}
			p.SetViews(set("*", "!"+tool))
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				members := about
				if method == "tasks/update" {
					members += `,"inputResponses":{}`
				}
				if got := ask(method, members); !strings.Contains(got, "unknown task") {
					t.Errorf("%s: got %s", method, got)
				}
			}
			p.SetViews(set("*"))
			if got := ask("tasks/get", about); !strings.Contains(got, `"status"`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestViewAndHook: a hook gets the arguments as the view has written them, and what it changes is
// what the server gets; neither the fixed value nor what is outside is in an answer or in a record.
func TestViewAndHook(t *testing.T) {
	t.Parallel()
	for _, name := range append(slices.Clone(ways), "sse") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := edited()
			j, log := journaled(t, recording.Options{})
			p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Journal: j, Views: viewsOf(t, "bugs", map[string]views.Config{"bugs": editing()})})
			require.NoError(t, err)
			defer p.Close()
			require.NoError(t, p.SetHooks([]proxy.NamedHook{{Name: "changes", Hook: spy{request: func(c *proxy.HookCall) error {
				if c.Target.View != "bugs" || c.Target.Tool != "file" || !strings.Contains(string(c.Params), `"owner":"canary-acme"`) {
					t.Errorf("the hook got %s, %+v", c.Params, c.Target)
				}
				c.Params = []byte(strings.Replace(string(c.Params), `"canary-acme"`, `"changed"`, 1))
				return nil
			}, response: func(*proxy.HookCall) error { return nil }}}}))
			w := waysTo(t, p)[name]()
			defer w.end()
			var all strings.Builder
			for _, ask := range []string{`{"name":"file_bug","arguments":{"body":"b"}}`, `{"name":"file_bug","arguments":{"owner":"x"}}`, `{"name":"file_bug","arguments":{"secret":"x"}}`, `{"name":"gh__file"}`} {
				all.WriteString(w.ask(t.Context(), "tools/call", ask))
			}
			all.WriteString(w.ask(t.Context(), "tools/list", `{}`))
			var sent []string
			for _, text := range servers.stubs["gh"].seen {
				if strings.HasPrefix(text, "tools/call") {
					sent = append(sent, text)
				}
			}
			if len(sent) != 1 || !strings.Contains(sent[0], `{"body":"b","labels":["triage"],"owner":"changed"}`) {
				t.Errorf("the server was sent %s", sent)
			}
			w.end()
			_ = p.Close()
			closeJournal(t, j)
			for _, r := range log.raw {
				all.Write(r)
			}
			if !strings.Contains(all.String(), `"tools"`) || strings.Contains(all.String(), "canary") {
				t.Errorf("got %s", all.String())
			}
		})
	}
}
