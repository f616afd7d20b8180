//go:build attacks && linux

package attacks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// decisionsConfig has policies that are easily understood wrongly.
const decisionsConfig = `access:
  default: deny
  labels: {risky: ["a/x*"]}
  policies: [more.cedar]
  rules:
    - {allow: "*", to: [a, b, c/only_denied, e, f, "prompt:a/ask", "resource:a/repo://pub"]}
    - {deny: "*", to: a/first, when: {args.n: {ge: 0}}}
    - {allow: "*", to: a/first, when: {args.n: {ge: 0}}}
    - {allow: "*", to: a/last, when: {args.n: {ge: 0}}}
    - {deny: "*", to: a/last, when: {args.n: {ge: 0}}}
    - {deny: "*", to: risky, when: {args.n: {ge: 0}}}
    - {allow: "*", to: d, only: read-only}
    - {deny: "*", to: "e/get_*"}
    - {deny: "*", to: c/only_denied, when: {args.n: {gt: 5}}}
    - {allow: "*", to: a/shadowed, shadow: true}
    - {deny: "*", to: a/scoped}
    - {allow: "*", to: a/scoped, scope: none}
`

// moreCedar are policies that fail, and those that are about more than arguments.
const moreCedar = `
@id("overflow") forbid (principal, action == Action::"call", resource == Tool::"a/overflow") when {context.args has n && context.args.n + 1 > 5};
@id("overflow-permit") permit (principal, action == Action::"call", resource == Tool::"c/overflow") when {context.args has n && context.args.n + 1 > -9};
@id("times") forbid (principal, action == Action::"call", resource == Tool::"a/times") when {context.args has n && context.args.n * 4 == 1};
@id("unless") forbid (principal, action == Action::"call", resource == Tool::"a/unless") unless {context.args has n && context.args.n - 1 > 5};
@id("tasks") forbid (principal, action == Action::"call", resource == Tool::"a/task") when {context.task};
@id("front") forbid (principal, action == Action::"call", resource == Tool::"a/front") when {context.front != "none"};
@id("get") forbid (principal, action == Action::"get", resource == Prompt::"a/ask") when {context.front != "none"};
@id("deliver") forbid (principal, action == Action::"deliver", resource in Server::"f") when {context.front != "none"};
@id("read") forbid (principal, action == Action::"read", resource == Resource::"a/repo://pub") when {context.front != "none"};
`

func decisionServers() map[string]spec {
	tool := func(name string) string {
		return `{"name":"` + name + `","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`
	}
	tools := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, tool(n))
		}
		return out
	}
	return map[string]spec{
		"a": {
			Tools:   tools("echo", "first", "last", "overflow", "times", "unless", "task", "front", "shadowed", "scoped", "x1"),
			Prompts: []string{prompt("ask")}, Resources: []string{resource("repo://pub")},
		},
		"b": {Tools: tools("echo")},
		"c": {Tools: tools("only_denied", "overflow", "other")},
		"d": {Tools: tools("says_it_only_reads")},
		"e": {Tools: tools("get_x", "get")},
		"f": {Tools: tools("tell"), Prompts: []string{prompt("tell")}, Resources: []string{resource("told://a")}, Templates: []string{`{"name":"t","uriTemplate":"told://old/{x}"}`}},
	}
}

func decided() (all []attack) {
	begin := func(s *stage) *policed {
		return s.policed("decisions", func() *policed {
			dir := s.t.TempDir()
			require.NoError(s.t, os.WriteFile(filepath.Join(dir, "more.cedar"), []byte(moreCedar), 0o600))
			p := newPoliced(s.t, strings.Replace(decisionsConfig, "more.cedar", filepath.Join(dir, "more.cedar"), 1), decisionServers())
			p.connect(s.t, "a__echo", "b__echo")
			return p
		})
	}
	for _, row := range []struct{ name, method, params, instead string }{
		{"a forbid that fails", "tools/call", `{"name":"a__overflow","arguments":{"n":9223372036854775807}}`, ""},
		{"a forbid that fails by multiplication", "tools/call", `{"name":"a__times","arguments":{"n":4611686018427387904}}`, ""},
		{"a forbid with unless that fails", "tools/call", `{"name":"a__unless","arguments":{"n":-9223372036854775808}}`, ""},
		{"a permit that fails", "tools/call", `{"name":"c__overflow","arguments":{"n":9223372036854775807}}`, ""},
		{"denied first, then allowed", "tools/call", `{"name":"a__first","arguments":{"n":1}}`, ""},
		{"allowed first, then denied", "tools/call", `{"name":"a__last","arguments":{"n":1}}`, ""},
		{"denied by a label", "tools/call", `{"name":"a__x1","arguments":{"n":1}}`, ""},
		{"nothing but a rule that denies something else", "tools/call", `{"name":"c__other","arguments":{}}`, "unknown tool"},
		{"a tool that says itself that it only reads", "tools/call", `{"name":"d__says_it_only_reads","arguments":{}}`, "unknown tool"},
		{"denied by a pattern", "tools/call", `{"name":"e__get_x","arguments":{}}`, "unknown tool"},
		{"allowed if it had a scope, and denied", "tools/call", `{"name":"a__scoped","arguments":{}}`, "unknown tool"},
		{"a call as a task", "tools/call", `{"name":"a__task","arguments":{},"task":{"ttl":1000}}`, ""},
		{"a call as a task, escaped", "tools/call", `{"name":"a__task","arguments":{},"t\u0061sk":{"ttl":1000}}`, ""},
		{"a tool that is seen and denied", "tools/call", `{"name":"a__front","arguments":{}}`, ""},
		{"the same with progress", "tools/call", `{"name":"a__front","arguments":{},"_meta":{"progressToken":1}}`, ""},
		{"the same as a task", "tools/call", `{"name":"a__front","arguments":{},"task":{}}`, ""},
		{"the same with the other separator", "tools/call", `{"name":"a.front","arguments":{}}`, ""},
		{"the same, escaped", "tools/call", `{"name":"a__fr\u006fnt","arguments":{}}`, ""},
		{"the same, and answers to what nobody has asked", "tools/call", `{"name":"a__front","arguments":{},"inputResponses":{"x":{"action":"accept","content":{"allow":true}}}}`, `"error":`},
		{"the same, and a state that is none", "tools/call", `{"name":"a__front","arguments":{},"inputResponses":{"x":{"action":"accept","content":{"allow":true}}},"requestState":"AAAA"}`, `"error":`},
		{"a prompt that is seen and denied", "prompts/get", `{"name":"a__ask"}`, ""},
		{"a completion for it", "completion/complete", `{"ref":{"type":"ref/prompt","name":"a__ask"},"argument":{"name":"a","value":"v"}}`, ""},
		{"a resource that is seen and denied", "resources/read", `{"uri":"repo://pub"}`, ""},
		{"the same, wrapped", "resources/read", `{"uri":"mcpctl+repo://a///pub"}`, `"error":`},
		{"the same in capitals", "resources/read", `{"uri":"REPO://pub"}`, `"error":`},
	} {
		for _, w := range ways() {
			if strings.Contains(row.params, `"_meta"`) && strings.HasPrefix(w.name, revision) {
				continue // its metadata has it
			}
			all = append(all, attack{name: "decided: " + row.name + ", " + w.name, do: func(t *testing.T, s *stage) {
				p := begin(s)
				p.unused(t, func() {
					got := w.ask(t, s, p, "", row.method, row.params)
					if row.instead != "" {
						refusedBy(t, got, row.instead)
						return
					}
					refusedBy(t, got)
				})
			}})
		}
	}
	for _, row := range [][3]string{
		{"of a tool", "tools/call", `{"name":"f__tell","arguments":{}}`},
		{"of a tool, with progress", "tools/call", `{"name":"f__tell","arguments":{},"_meta":{"progressToken":1}}`},
		{"of a prompt", "prompts/get", `{"name":"f__tell"}`},
		{"of a resource", "resources/read", `{"uri":"told://a"}`},
		{"of what a template means", "resources/read", `{"uri":"told://old/1"}`},
		{"of what is in no list", "resources/read", `{"uri":"mcpctl+told://f///x"}`},
		{"of a completion", "completion/complete", `{"ref":{"type":"ref/prompt","name":"f__tell"},"argument":{"name":"a","value":"v"}}`},
		{"of a completion for a template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"told://old/{x}"},"argument":{"name":"x","value":"v"}}`},
	} {
		for _, w := range ways() {
			if strings.Contains(row[2], `"_meta"`) && strings.HasPrefix(w.name, revision) {
				continue
			}
			all = append(all, attack{name: "a result that may not be delivered, " + row[0] + ", " + w.name, do: func(t *testing.T, s *stage) {
				for range 2 { // before and after the server is connected
					got := w.ask(t, s, begin(s), "", row[1], row[2])
					if refusedBy(t, got); strings.Contains(got, `"f `) || strings.Contains(got, "f completes") {
						t.Errorf("it is delivered: %s", got)
					}
				}
			}})
		}
	}
	add := func(name string, do func(t *testing.T, s *stage, p *policed)) {
		all = append(all, attack{name: name, do: func(t *testing.T, s *stage) { do(t, s, begin(s)) }})
	}
	for _, row := range []struct{ name, header, body string }{
		{"a header that names what is allowed", "a__echo", "a__front"},
		{"a header that names what is denied", "a__front", "a__echo"},
		{"a header in capitals", "A__FRONT", "a__front"},
		{"no name in the header", "", "a__front"},
	} {
		add(row.name+", 2026-07-28", func(t *testing.T, _ *stage, p *policed) {
			p.unused(t, func() {
				head := mirrorsOf("tools/call", row.header)
				if row.header == "" {
					head = head[:2]
				}
				refusedBy(t, post(t, p.Daemon, modern("tools/call", `"name":"`+row.body+`","arguments":{}`), head...).Body, `"error":`)
			})
		})
	}
	add("a batch with one allowed", func(t *testing.T, _ *stage, p *policed) {
		id := post(t, p.Daemon, wire.Request("0", "initialize", strings.Replace(wire.Hello, "2025-11-25", "2025-03-26", 1))).Header.Get("Mcp-Session-Id")
		before := p.uses(t)
		res := post(t, p.Daemon, `[`+tool("1", "a__front", `{}`)+`,`+tool("2", "b__echo", `{}`)+`,`+tool("3", "a__first", `{"n":1}`)+`]`, "Mcp-Session-Id: "+id)
		if n := strings.Count(res.Body, `"code":-31009`); n != 2 || strings.Contains(res.Body, `"a `) {
			t.Errorf("%d are denied: %s", n, res.Body)
		}
		if n := p.uses(t) - before; n != 1 {
			t.Errorf("%d have reached a server", n)
		}
	})
	add("a batch of all that is hidden", func(t *testing.T, _ *stage, p *policed) {
		id := post(t, p.Daemon, wire.Request("0", "initialize", strings.Replace(wire.Hello, "2025-11-25", "2025-03-26", 1))).Header.Get("Mcp-Session-Id")
		p.unused(t, func() {
			res := post(t, p.Daemon, `[`+tool("1", "c__other", `{}`)+`,`+tool("2", "d__says_it_only_reads", `{}`)+`]`, "Mcp-Session-Id: "+id)
			if n := strings.Count(res.Body, `"code":-32602`); n != 2 {
				t.Errorf("got %s", res.Body)
			}
		})
	})
	add("a subscription to what is denied", func(t *testing.T, _ *stage, p *policed) {
		h := openSession(t, p.Daemon, `{}`)
		p.unused(t, func() {
			refusedBy(t, post(t, p.Daemon, wire.Request("1", "resources/subscribe", `{"uri":"repo://pub"}`), h).Body)
		})
	})
	add("a subscription to what is denied, 2026-07-28", func(t *testing.T, _ *stage, p *policed) {
		p.unused(t, func() {
			head := mirrorsOf("subscriptions/listen", "")[:2]
			body := modern("subscriptions/listen", `"notifications":{"resourceSubscriptions":["repo://pub"]}`)
			exchangeBriefly(t, p.Daemon, wire.RawPost("/mcp", body, append(head, local, isJSON, accepts)...))
		})
	})
	all = append(all, limited()...)
	return append(all, reloaded()...)
}

// limited are rates and quotas.
func limited() (all []attack) {
	const config = `serve: {auth: [token: {}]}
access:
  default: allow
  rules:
    - {limit: "*", to: a/rate, over: 5/h burst 5 per principal}
    - {limit: "*", to: a/all, over: 5/h burst 5}
    - {limit: "*", to: a/day, over: 5/d per principal}
    - {deny: "*", to: a/both, when: {args.n: {gt: 5}}}
    - {limit: "*", to: a/both, over: 1/h per principal}
`
	servers := map[string]spec{"a": {Tools: []string{plainTool("rate"), plainTool("all"), plainTool("day"), `{"name":"both","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`}}}
	race := func(t *testing.T, p *policed, name string, who ...string) {
		t.Helper()
		before := p.uses(t)
		var wg sync.WaitGroup
		var mu sync.Mutex
		limited := 0
		for i := range 100 {
			wg.Go(func() {
				var res wire.Response
				by := who[i%len(who)]
				if i%2 == 0 {
					res = post(t, p.Daemon, tool("1", name, `{}`), p.as(by))
				} else {
					res = p.alone(t, by, "tools/call", `{"name":"`+name+`","arguments":{}}`)
				}
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(res.Body, `"code":-31029`) && strings.Contains(res.Body, `"retryAfter":`) {
					limited++
				}
			})
		}
		wg.Wait()
		if n := p.uses(t) - before; n != 5 || limited != 95 {
			t.Errorf("%d have reached a server, %d were too many", n, limited)
		}
	}
	return []attack{
		{name: "limits: 100 calls at once", do: func(t *testing.T, _ *stage) {
			race(t, newPoliced(t, config, servers), "a__rate", "alice")
		}},
		{name: "limits: 100 calls of two at once", do: func(t *testing.T, _ *stage) {
			race(t, newPoliced(t, config, servers), "a__all", "alice", "bob")
		}},
		{name: "limits: 100 calls of a day at once, and a serve after it", do: func(t *testing.T, _ *stage) {
			p := newPoliced(t, config, servers)
			race(t, p, "a__day", "alice")
			p.Signal(syscall.SIGTERM)
			<-p.Exited
			p.Stopped = true
			p.Daemon = wire.Serve(t, wire.Setup{Program: *program, Config: p.home.config, Home: p.home.dir})
			p.unused(t, func() {
				for _, w := range ways()[:2] {
					refusedBy(t, w.ask(t, nil, p, "alice", "tools/call", `{"name":"a__day","arguments":{}}`), `"code":-31029`)
				}
			})
			expect(t, post(t, p.Daemon, tool("1", "a__day", `{}`), p.as("bob")), "200 result")
		}},
		{name: "limits: sessions, names and eras are no way around", do: func(t *testing.T, _ *stage) {
			p := newPoliced(t, config, servers)
			for range 5 {
				expect(t, post(t, p.Daemon, tool("1", "a__rate", `{}`), p.as("alice")), "200 result")
			}
			p.unused(t, func() {
				for _, name := range []string{"a__rate", "a.rate"} {
					for _, w := range ways()[:2] {
						refusedBy(t, w.ask(t, nil, p, "alice", "tools/call", `{"name":"`+name+`","arguments":{}}`), `"code":-31029`)
					}
				}
				hers := p.session(t, "alice", `{}`)
				refusedBy(t, post(t, p.Daemon, tool("1", "a__rate", `{}`), hers, p.as("alice")).Body, `"code":-31029`)
				refusedBy(t, post(t, p.Daemon, tool("1", "a__rate", `{}`), p.as("alice"), "X-Forwarded-For: 192.0.2.1").Body, `"code":-31029`)
			})
			expect(t, post(t, p.Daemon, tool("1", "a__rate", `{}`), p.as("bob")), "200 result")
		}},
		{name: "limits: what is denied counts for none", do: func(t *testing.T, _ *stage) {
			p := newPoliced(t, config, servers)
			for range 3 {
				refusedBy(t, post(t, p.Daemon, tool("1", "a__both", `{"n":6}`), p.as("alice")).Body)
			}
			expect(t, post(t, p.Daemon, tool("1", "a__both", `{"n":1}`), p.as("alice")), "200 result")
			refusedBy(t, post(t, p.Daemon, tool("1", "a__both", `{"n":1}`), p.as("alice")).Body, `"code":-31029`)
		}},
	}
}

// reloaded has policies change while serve runs.
func reloaded() []attack {
	allow, deny := "access: {rules: [{allow: '*', to: a}]}\n", "access: {rules: [{deny: '*', to: a/act}, {deny: '*', to: b}]}\n"
	servers := map[string]spec{"a": {}, "b": {}}
	call := func(t testing.TB, p *policed, name string) string {
		return post(t, p.Daemon, tool("1", name, `{}`)).Body
	}
	return []attack{
		{name: "policies that change in the middle of a stream", do: func(t *testing.T, _ *stage) {
			p := newPoliced(t, allow, servers)
			h := openSession(t, p.Daemon, `{}`)
			post(t, p.Daemon, wire.Notification("notifications/initialized", `{}`), h)
			toolNames(t, p.Daemon) // who has asked for a list is told of its changes
			out := stream(t, p.Daemon, "/mcp", h).out
			done := make(chan wire.Response, 1)
			go func() { done <- post(t, p.Daemon, acting("7", "a", "!sleep 2s", rightAnswer), h) }()
			wait.Until(t, "the call is under way", func() bool { return p.uses(t) == 1 })
			p.home.write(t, "config.yaml", deny)
			wait.Until(t, "the new ones count", func() bool {
				return strings.Contains(call(t, p, "a__echo"), "result") && strings.Contains(call(t, p, "b__echo"), "-32602")
			})
			p.unused(t, func() {
				refusedBy(t, post(t, p.Daemon, acting("8", "a", rightAnswer), h).Body, "unknown tool")
				refusedBy(t, p.alone(t, "", "tools/call", `{"name":"a__act","arguments":{}}`).Body, "unknown tool")
				if slices.Contains(toolNames(t, p.Daemon), "a__act") {
					t.Error("it is listed")
				}
			})
			expect(t, <-done, "200 result a right") // what was allowed then
			out.Await(t, "news of the list", func(text string) string {
				if strings.Contains(text, "tools/list_changed") {
					return text
				}
				return ""
			})
		}},
		{name: "policies that are broken while serve runs", do: func(t *testing.T, _ *stage) {
			p := newPoliced(t, deny, servers)
			sound, err := os.ReadFile(filepath.Join(p.home.dir, "config.yaml"))
			require.NoError(t, err)
			defer func() { p.home.write(t, "config.yaml", string(sound)) }() // the log is read at the end
			for _, text := range []string{
				"access: {rules: [{deny: '*', to: a/act}, {deny: '*', too: b}]}\n", "access: {rules: [}\n", "access: {default: open}\n", "access: {policies: [none.cedar]}\n",
				"access: [1]\n", "access: {rules: [{allow: '*', to: '*', id: default}, {allow: '*', to: '*', id: default}]}\n",
			} {
				p.home.write(t, "config.yaml", text)
				wait.Until(t, fmt.Sprintf("%q is said", text), func() bool {
					return strings.Contains(p.home.mcpctl(t, "", "status", "--json").stdout, `"problem"`)
				})
				time.Sleep(50 * time.Millisecond) // for what would be let through then
				p.unused(t, func() {
					for _, name := range []string{"a__act", "b__echo"} {
						refusedBy(t, call(t, p, name), "unknown tool")
						refusedBy(t, p.alone(t, "", "tools/call", `{"name":"`+name+`","arguments":{}}`).Body, "unknown tool")
					}
				})
			}
		}, slow: true},
		{name: "policies that are broken when serve starts", do: func(t *testing.T, _ *stage) {
			h := newHome(t, `{"mcpServers":{"a":`+entryText(rogue(t, spec{Name: "a"}))+`}}`)
			for _, text := range []string{
				"access: {rules: [{deny: '*', too: b}]}\n", "access: {default: open}\n", "access: {policies: [none.cedar]}\n", "access: [1]\n", "acess: {}\naccess: {rulez: []}\n",
				"access: {rules: [{allow: '*', to: a, when: {args.n: {gt: x}}}]}\n",
			} {
				h.write(t, "config.yaml", text)
				for _, words := range [][]string{{"serve"}, {"call", "a", "echo"}, {"tools", "a"}} {
					if o := h.mcpctl(t, "", words...); o.code != 5 || strings.Contains(o.stdout, "echo") {
						t.Errorf("%q, %v: exit code %d: %s", text, words, o.code, o.output())
					}
				}
			}
		}},
	}
}
