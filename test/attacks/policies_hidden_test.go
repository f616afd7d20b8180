//go:build attacks && linux

package attacks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/wire"
)

// hidingConfig is one under which alice sees all, and bob and the local user some of it.
const hidingConfig = `serve: {auth: [token: {}]}
access:
  default: deny
  rules:
    - {allow: "token|alice", to: "*"}
    - {allow: ["token|bob", local], to: [gh/echo, gh/act, "prompt:gh/ask", "resource:gh/repo://pub", "resource:gh/repo://t/{x}", fs, many]}
`

const longServer = "a-server-with-a-rather-long-name"

// offered are servers of which hidingConfig hides something; without all they have nothing
// of that.
func offered(all bool) map[string]spec {
	more := func(items ...string) []string {
		if all {
			return items
		}
		return nil
	}
	out := map[string]spec{
		"gh": {
			Tools:     append([]string{plainTool("act"), plainTool("echo")}, more(plainTool("merge"), `{"name":"panel","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://gh/x","visibility":["app"]}}}`)...),
			Prompts:   append([]string{prompt("ask")}, more(prompt("tell"))...),
			Resources: append([]string{resource("repo://pub")}, more(resource("repo://priv"), resource("ui://gh/x"))...),
			Templates: append([]string{`{"name":"t","uriTemplate":"repo://t/{x}"}`}, more(`{"name":"d","uriTemplate":"db://{x}"}`)...),
		},
		"fs":   {Tools: []string{plainTool("act"), plainTool("ls")}, Resources: []string{resource("file:///a")}, Instructions: "of fs"},
		"many": many("many"),
	}
	if all {
		out["mail"] = spec{Tools: []string{plainTool("send")}, Prompts: []string{prompt("p")}, Resources: []string{resource("mail://in")}, Instructions: "of mail"}
		out[longServer] = spec{Tools: []string{plainTool("search_items_of_all_kinds")}, Prompts: []string{prompt("search_items_of_all_kinds")}}
	}
	return out
}

// surface is a request for what is hidden, or for a list of what there is.
type surface struct {
	name, method, params string
	real                 bool // alice gets a result
}

func surfaces() []surface {
	completion := func(ref string) string {
		return `{"ref":` + ref + `,"argument":{"name":"a","value":"v"}}`
	}
	named := func(name string) string { return `{"name":` + wire.Quote(name) + `,"arguments":{}}` }
	at := func(uri string) string { return `{"uri":` + wire.Quote(uri) + `}` }
	return []surface{
		{"the tools", "tools/list", `{}`, true},
		{"the prompts", "prompts/list", `{}`, true},
		{"the resources", "resources/list", `{}`, true},
		{"the templates", "resources/templates/list", `{}`, true},
		{"a tool", "tools/call", named("gh__merge"), true},
		{"a tool of a server that is hidden whole", "tools/call", named("mail__send"), true},
		{"a tool as a task", "tools/call", `{"name":"gh__merge","arguments":{},"task":{"ttl":1000}}`, false},
		{"a tool with an escaped name", "tools/call", `{"name":"gh__\u006derge","arguments":{}}`, true},
		{"a tool with arguments that are null", "tools/call", `{"name":"gh__merge","arguments":null}`, false},
		{"a tool with the other separator", "tools/call", named("gh.merge"), true},
		{"a tool with a slash", "tools/call", named("gh/merge"), false},
		{"a tool of a hidden server with the other separator", "tools/call", named("mail.send"), true},
		{"a tool without its server", "tools/call", named("merge"), false},
		{"a tool of a hidden server without it", "tools/call", named("send"), false},
		{"a tool in capitals", "tools/call", named("gh__MERGE"), false},
		{"a tool of its server in capitals", "tools/call", named("GH__merge"), false},
		{"a tool with wide letters", "tools/call", named("gh__ｍerge"), false},
		{"a tool with a letter of another script", "tools/call", named("gh__mеrge"), false},
		{"a tool with an invisible letter", "tools/call", named("gh__mer\u200bge"), false},
		{"a tool with a space behind", "tools/call", named("gh__merge "), false},
		{"a tool with NUL behind", "tools/call", named("gh__merge\x00"), false},
		{"a tool with three underscores", "tools/call", named("gh___merge"), false},
		{"a tool by its shortened name", "tools/call", `{"name":"$LONG","arguments":{}}`, true},
		{"a tool by its whole name", "tools/call", named(longServer + "__search_items_of_all_kinds"), false},
		{"a tool of apps", "tools/call", named("gh__panel"), true},
		{"a tool of apps by its bare name", "tools/call", named("panel"), false},
		{"a prompt", "prompts/get", `{"name":"gh__tell"}`, true},
		{"a prompt of a hidden server", "prompts/get", `{"name":"mail__p"}`, true},
		{"a prompt with the other separator", "prompts/get", `{"name":"gh.tell"}`, true},
		{"a prompt in place of a tool", "prompts/get", `{"name":"gh__merge"}`, false},
		{"a resource", "resources/read", at("repo://priv"), true},
		{"a resource in capitals", "resources/read", at("REPO://priv"), false},
		{"a resource with an escape", "resources/read", at("repo://pri%76"), false},
		{"a resource behind dots", "resources/read", at("repo://t/../priv"), false},
		{"a resource behind escaped dots", "resources/read", at("repo://t/%2e%2e/priv"), false},
		{"a resource, wrapped", "resources/read", at("mcpctl+repo://gh///priv"), false},
		{"a resource that is in no list", "resources/read", at("mcpctl+repo://gh///nolist"), true},
		{"a resource of a hidden server", "resources/read", at("mail://in"), true},
		{"a resource of a hidden server, wrapped", "resources/read", at("mcpctl+mail://mail///in"), false},
		{"a resource of a hidden server that it does not list", "resources/read", at("mcpctl+mail://mail///out"), false},
		{"a page of an app", "resources/read", at("ui://gh/x"), true},
		{"a page of an app of a hidden server", "resources/read", at("ui://mail/x"), false},
		{"what a template means", "resources/read", at("db://7"), true},
		{"a completion for a prompt", "completion/complete", completion(`{"type":"ref/prompt","name":"gh__tell"}`), true},
		{"a completion for a prompt of a hidden server", "completion/complete", completion(`{"type":"ref/prompt","name":"mail__p"}`), true},
		{"a completion for a template", "completion/complete", completion(`{"type":"ref/resource","uri":"db://{x}"}`), true},
		{"a completion for a resource", "completion/complete", completion(`{"type":"ref/resource","uri":"repo://priv"}`), false},
		{"a completion for names of tools", "completion/complete", completion(`{"type":"ref/tool","name":"gh__merge"}`), false},
		{"a subscription", "resources/subscribe", at("repo://priv"), false},
		{"a subscription to a resource of a hidden server", "resources/subscribe", at("mail://in"), false},
		{"a subscription that ends", "resources/unsubscribe", at("repo://priv"), false},
		{"the log of a hidden server", "logging/setLevel", `{"level":"debug","server":"mail"}`, false},
		{"a task of another", "tasks/get", `{"taskId":"gh:1"}`, false},
		{"what a task came to", "tasks/result", `{"taskId":"mail:1"}`, false},
		{"an end of a task", "tasks/cancel", `{"taskId":"mail:1"}`, false},
		{"what serve is", "server/discover", `{}`, false},
		{"instructions", "initialize", wire.Hello, false},
	}
}

// twins are two serves with the same policies and words: one has what these hide, one has
// not.
func (s *stage) twins(words ...string) (with, without *policed) {
	for _, all := range []bool{true, false} {
		name := "without what is hidden"
		if all {
			name = "with what is hidden"
		}
		p := s.policed(name+strings.Join(words, " "), func() *policed { return newPoliced(s.t, hidingConfig, offered(all), words...) })
		if all {
			with = p
		} else {
			without = p
		}
	}
	if with.long == "" {
		for _, n := range named(s.t, post(s.t, with.Daemon, wire.Request("1", "tools/list", `{}`), with.as("alice")).Message(), "tools", "name") {
			if strings.HasPrefix(n, "a-server-") {
				with.long = n
			}
		}
	}
	return with, without
}

// policed returns the one of a name that the cases of a class share.
func (s *stage) policed(name string, begin func() *policed) *policed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policies == nil {
		s.policies = map[string]*policed{}
	}
	if s.policies[name] == nil {
		s.policies[name] = begin()
	}
	return s.policies[name]
}

// hidden has what a principal may not see asked for on every surface: the answer is that
// of a serve whose servers have never had it, and no server hears of it.
func hidden() (all []attack) {
	for _, row := range surfaces() {
		for _, w := range ways() {
			if row.method == "initialize" && w.name != "2025-11-25" {
				continue
			}
			all = append(all, attack{name: "hidden: " + row.name + ", " + w.name, do: func(t *testing.T, s *stage) {
				with, without := s.twins()
				params := strings.ReplaceAll(row.params, "$LONG", with.long)
				if !w.stdio && row.real {
					// She gets it: it is there, and what is remembered for her is not for him.
					if got := w.ask(t, s, with, "alice", row.method, params); !strings.Contains(got, `"result":`) {
						t.Fatalf("alice gets %.300s", got)
					}
				}
				want := withoutCursor(w.ask(t, s, without, "bob", row.method, params))
				with.unused(t, func() {
					if got := withoutCursor(w.ask(t, s, with, "bob", row.method, params)); got != want {
						t.Errorf("got  %.600s\nwant %.600s", got, want)
					}
				})
			}})
		}
	}
	for _, row := range []surface{
		{"a tool", "tools/call", `{"name":"merge","arguments":{}}`, true},
		{"a tool of a hidden server", "tools/call", `{"name":"send","arguments":{}}`, true},
		{"a tool with its server", "tools/call", `{"name":"gh__merge","arguments":{}}`, false},
		{"a tool with its hidden server", "tools/call", `{"name":"mail__send","arguments":{}}`, false},
		{"a prompt", "prompts/get", `{"name":"tell"}`, true},
		{"the tools", "tools/list", `{}`, true},
		{"the prompts", "prompts/list", `{}`, true},
	} {
		for _, w := range ways()[:2] {
			all = append(all, attack{name: "hidden without prefixes: " + row.name + ", " + w.name, do: func(t *testing.T, s *stage) {
				with, without := s.twins("--no-prefix")
				if row.real {
					if got := w.ask(t, s, with, "alice", row.method, row.params); !strings.Contains(got, `"result":`) {
						t.Fatalf("alice gets %.300s", got)
					}
				}
				want := withoutCursor(w.ask(t, s, without, "bob", row.method, row.params))
				with.unused(t, func() {
					if got := withoutCursor(w.ask(t, s, with, "bob", row.method, row.params)); got != want {
						t.Errorf("got  %.600s\nwant %.600s", got, want)
					}
				})
			}})
		}
	}
	for _, w := range ways()[:2] {
		for _, method := range []string{"tools/list", "prompts/list"} {
			all = append(all, attack{name: "hidden: a cursor of another view, " + method + ", " + w.name, do: func(t *testing.T, s *stage) {
				with, _ := s.twins()
				list := func(who, cursor string) string {
					return w.ask(t, s, with, who, method, `{"cursor":`+wire.Quote(cursor)+`}`)
				}
				hers := nextCursor.FindStringSubmatch(w.ask(t, s, with, "alice", method, `{}`))
				if hers == nil || !strings.Contains(list("alice", hers[1]), `"result":`) {
					t.Fatal("there is one page")
				}
				if got, want := list("bob", hers[1]), list("bob", strings.Repeat("A", len(hers[1]))); got != want {
					t.Errorf("got  %.300s\nwant %.300s", got, want)
				}
			}})
		}
	}
	all = append(all, attack{name: "hidden: over the old transport", do: func(t *testing.T, s *stage) {
		with, _ := s.twins()
		out := stream(t, with.Daemon, "/sse", with.as("bob")).out
		to := out.Await(t, "where to send", func(text string) string {
			if m := regexp.MustCompile(`data: (/\S+)`).FindStringSubmatch(text); m != nil {
				return m[1]
			}
			return ""
		})
		send := func(line string) {
			exchange(t, with.Daemon, wire.RawPost(to, line, local, isJSON, with.as("bob")))
		}
		send(wire.Request("0", "initialize", wire.Hello))
		with.unused(t, func() {
			send(tool("1", "gh__merge", `{}`))
			send(tool("2", "mail__send", `{}`))
			out.Await(t, "answers", func(text string) string {
				if strings.Count(text, `"code":-32602`) == 2 {
					return text
				}
				return ""
			})
		})
	}}, attack{name: "hidden: news of what changes, 2026-07-28", do: func(t *testing.T, s *stage) {
		with, without := s.twins()
		listen := func(p *policed) string {
			body := modern("subscriptions/listen", `"notifications":{"resourceSubscriptions":["repo://priv","mail://in"],"toolsListChanged":true}`)
			return shownAnswer(exchangeBriefly(t, p.Daemon, wire.RawPost("/mcp", body, append(mirrorsOf("subscriptions/listen", "")[:2], local, isJSON, accepts, p.as("bob"))...)))
		}
		want := listen(without)
		with.unused(t, func() {
			if got := listen(with); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}}, attack{name: "hidden: a server that is hidden whole is not started", do: func(t *testing.T, _ *stage) {
		p := newPoliced(t, strings.Replace(hidingConfig, `    - {allow: "token|alice", to: "*"}`+"\n", "", 1), offered(true))
		for _, w := range ways()[:2] {
			for _, row := range surfaces() {
				if row.method != "initialize" {
					w.ask(t, nil, p, "bob", row.method, row.params)
				}
			}
		}
		for _, name := range []string{"mail", longServer} {
			if _, err := os.Stat(filepath.Join(p.noted, name)); err == nil {
				t.Errorf("%s has been started", name)
			}
		}
	}})
	return all
}

// nextCursor is what leads to the next page.
var nextCursor = regexp.MustCompile(`"nextCursor":"([^"]+)"`)

// withoutCursor takes from a page what leads to the next: no two are the same.
func withoutCursor(answer string) string {
	return nextCursor.ReplaceAllString(answer, `"nextCursor":""`)
}
