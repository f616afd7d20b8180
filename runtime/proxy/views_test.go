package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// viewsOf returns views, of which the one named is for clients that nothing else decides for.
func viewsOf(tb testing.TB, fallback string, all map[string]views.Config) *views.Set {
	tb.Helper()
	set, err := views.New(all, fallback)
	require.NoError(tb, err)
	return set
}

// cutting selects what hiding lets see.
func cutting() views.Config {
	return views.Config{
		Tools: []string{"*", "!gh__merge"}, Prompts: []string{"*", "!gh__tell"},
		Resources: []string{"*", "!repo://priv", "!ui://gh/x", "!db://{x}", "!db://*"},
	}
}

// TestOutsideIsUnknown: what a view does not show is answered by every surface, in both eras and
// over each transport, as by a proxy whose servers never had it, byte for byte; and what it
// shows as without a view. The servers hear of nothing outside. Policies that deny what is
// outside are not asked.
func TestOutsideIsUnknown(t *testing.T) {
	t.Parallel()
	const deny = `@id("all") permit (principal, action, resource);
@id("merge") forbid (principal, action, resource == Tool::"gh/merge") when {context.front != "none"};
@id("deny") forbid (principal, action == Action::"call", resource == Tool::"gh/deny") when {context.front != "none"};`
	for name, o := range map[string]proxy.Options{"": {}, "and policies": {Gate: gated(t, deny)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with, without := offering(true), offering(false)
			delete(with.stubs, "mail")
			want := asked(t, without, o)
			o.Views = viewsOf(t, "v", map[string]views.Config{"v": cutting()})
			got := asked(t, with, o)
			if len(got) != len(want) {
				t.Fatalf("got %d answers, want %d", len(got), len(want))
			}
			for i := range got {
				got[i] = regexp.MustCompile(`,\{"uri":"mcpctl\+view:[^}]*\}`).ReplaceAllString(got[i], "") // which the view has: see TestDeclarations
				asked, _, _ := strings.Cut(got[i], "}")
				if strings.Contains(asked, "priv") || strings.HasPrefix(asked, "subscribe") { // which a server may have and not list
					if !strings.Contains(got[i], "no server lists") && !strings.Contains(got[i], `"values":[]`) && !strings.Contains(got[i], "unknown") {
						t.Errorf("got %s", got[i])
					}
				} else if got[i] != want[i] {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
			for name := range without.stubs {
				for _, sent := range with.stubs[name].seen {
					if strings.Contains(sent, "merge") || strings.Contains(sent, "tell") || strings.Contains(sent, "priv") || strings.Contains(sent, "db:") {
						t.Errorf("%s was sent %s", name, sent)
					}
				}
			}
		})
	}
}

// TestServerOutsideIsNotThere: a server of which a view can show nothing is not connected for
// it, and nothing says that it is there.
func TestServerOutsideIsNotThere(t *testing.T) {
	t.Parallel()
	none := func(more ...string) *views.Set {
		return viewsOf(t, "v", map[string]views.Config{"v": {
			Tools: append([]string{"*"}, more...), Prompts: append([]string{"*"}, more...), Resources: []string{},
		}})
	}
	with, without := offering(true), offering(true)
	delete(without.stubs, "mail")
	got := asked(t, with, proxy.Options{Views: none("!mail__*")})
	want := asked(t, without, proxy.Options{Views: none()})
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	if n := with.of("mail"); n != 0 {
		t.Errorf("a server outside was connected %d times", n)
	}
}

// TestUnknownViewShowsNothing: a name that is not configured never shows everything.
func TestUnknownViewShowsNothing(t *testing.T) {
	t.Parallel()
	servers := offering(true)
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "mail", "fs"), Dial: servers.dial, View: "none", Info: runtime.Implementation{Name: "mcpctl"}})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	for method, want := range map[string]string{
		"tools/list": `{"tools":[]}`, "prompts/list": `{"prompts":[]}`, "resources/list": `{"resources":[]}`, "resources/templates/list": `{"resourceTemplates":[]}`,
	} {
		if got := c.result(method, `{}`); got != want {
			t.Errorf("%s: got %s", method, got)
		}
	}
	if got := c.call("tools/call", `{"name":"gh__get"}`); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"gh", "mail", "fs"} {
		if n := servers.of(name); n != 0 {
			t.Errorf("%s was connected", name)
		}
	}
}

// editing changes a tool of gh, with a canary in what is hidden of it.
func editing() views.Config {
	return views.Config{
		Tools: []string{"gh__file", "gh__other", "fs__*"}, Pin: []string{"fs__ls", "gh__file"}, Instructions: "Only bugs.",
		Override: map[string]views.Override{"gh__file": {
			Name: "file_bug", Title: "File a bug", Description: "Files it.",
			Arguments: map[string]views.Argument{
				"owner": {Value: json.RawMessage(`"canary-acme"`)}, "labels": {Default: json.RawMessage(`["triage"]`)}, "secret": {Hide: true}, "body": {Description: "What happened."},
			},
		}},
	}
}

func edited() *dialing {
	return &dialing{stubs: stubs{
		"gh": &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
			"tools/list": `{"tools":[{"name":"other","inputSchema":{"type":"object"}},{"name":"file","title":"T","description":"D","inputSchema":{"type":"object","properties":{"owner":{"type":"string","description":"canary-owner"},"labels":{"type":"array"},"secret":{"type":"string","description":"canary-secret"},"body":{"type":"string"}},"required":["owner","body"]}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"x"}],"structuredContent":{"n": 90071992547409931}}`,
		}},
		"fs": &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
			"tools/list": `{"tools":[{"name":"ls","inputSchema":{"type":"object"}}]}`, "tools/call": `{"content":[]}`,
		}},
	}}
}

// TestOverridden: a tool has the name, texts and arguments that a view gives it, in both eras
// and over each transport. Under its own name it is not there. Policies see the server's tool
// and the arguments that the server gets.
func TestOverridden(t *testing.T) {
	t.Parallel()
	servers := edited()
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Info: runtime.Implementation{Name: "mcpctl"},
		Views: viewsOf(t, "", map[string]views.Config{"bugs": editing()}), View: "bugs",
		Gate: gated(t, `@id("all") permit (principal, action, resource); @id("acme") forbid (principal, action == Action::"call", resource == Tool::"gh/file") unless {context.args.owner == "canary-acme"};`),
	})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	if got := c.result("initialize", greeting); !strings.Contains(got, `"instructions":"Only bugs.`) {
		t.Errorf("got %s", got)
	}
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Path: "/mcp"})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	w := &july{t: t, p: p, handler: handler, url: s.url + "/mcp/bugs", hc: s.client()}
	post := func(body string, head http.Header) string {
		resp := w.open(t.Context(), body, head)
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(out)
	}
	var all strings.Builder
	each := func(method, params string, check func(got string)) {
		old := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		body, head := request(`"x"`, method, params, `{}`, "")
		for _, got := range []string{
			<-c.begin(`"x"`, method, params), c.july(`"x"`, method, params, `{}`), post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params), old), post(body, head),
		} {
			all.WriteString(got)
			check(got)
		}
	}
	each("tools/list", `{}`, func(got string) {
		ls, bug, other := strings.Index(got, `"name":"fs__ls"`), strings.Index(got, `"name":"file_bug"`), strings.Index(got, `"name":"gh__other"`)
		if ls < 0 || bug < ls || other < bug {
			t.Errorf("pins are not first in their order: %s", got)
		}
		for _, want := range []string{`"title":"File a bug"`, `"description":"Files it."`, `"description":"What happened."`, `"default":["triage"]`, `"required":["body"]`, `"anthropic/alwaysLoad":true`} {
			if !strings.Contains(got, want) {
				t.Errorf("lacks %s: %s", want, got)
			}
		}
	})
	for call, sent := range map[string]string{
		`{"name":"file_bug","arguments":{"body":"b", "n": 90071992547409931}}`: `{"name":"file","arguments":{"body":"b", "n": 90071992547409931,"labels":["triage"],"owner":"canary-acme"}`,
		`{"name":"file_bug","arguments":{"labels":[],"body":""}}`:              `{"name":"file","arguments":{"labels":[],"body":"","owner":"canary-acme"}`,
		`{"name":"file_bug"}`: `{"arguments":{"labels":["triage"],"owner":"canary-acme"},"name":"file"`,
	} {
		each("tools/call", call, func(got string) {
			if !strings.Contains(got, `{"n": 90071992547409931}`) {
				t.Errorf("got %s", got)
			}
			seen := servers.stubs["gh"].seen
			if last := seen[len(seen)-1]; !strings.HasPrefix(last, "tools/call "+sent) {
				t.Errorf("the server was sent %s, want %s", last, sent)
			}
		})
	}
	before := servers.stubs["gh"].calls()
	for call, want := range map[string]string{
		`{"name":"file_bug","arguments":{"owner":"x"}}`: `"code":-32602,"message":"params.arguments: argument \"owner\" is set already`,
		`{"name":"file_bug","arguments":{"secret":1}}`:  `"code":-32602,"message":"params.arguments: argument \"secret\" cannot be sent`,
		`{"name":"gh__file"}`:                           `"code":-32602,"message":"unknown tool: gh__file"`,
		`{"name":"gh.file"}`:                            `"code":-32602,"message":"unknown tool: gh.file"`,
		`{"name":"gh__none"}`:                           `"code":-32602,"message":"unknown tool: gh__none"`,
	} {
		each("tools/call", call, func(got string) {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %s", call, got)
			}
		})
	}
	if n := servers.stubs["gh"].calls(); n != before {
		t.Errorf("the server was called for what is refused")
	}
	if strings.Contains(all.String(), "canary") {
		t.Errorf("what is hidden appears: %s", all.String())
	}
}

// TestViewOfRequest: who gets which view over HTTP, in both eras; a session is one of its address.
func TestViewOfRequest(t *testing.T) {
	t.Parallel()
	servers := edited()
	only := func(tool string, clients ...string) views.Config {
		return views.Config{Tools: []string{tool}, Clients: clients}
	}
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Views: viewsOf(t, "rest", map[string]views.Config{
		"files": only("fs__ls"), "agents": only("gh__other", "claude*"), "rest": only("gh__file"),
	})})
	require.NoError(t, err)
	defer p.Close()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Path: "/mcp"})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	do := func(at, body string, head http.Header) (int, http.Header, string) {
		w := &july{t: t, p: p, handler: handler, url: s.url + at, hc: s.client()}
		resp := w.open(t.Context(), body, head)
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header, string(out)
	}
	old := func(session string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			h.Set("Mcp-Session-Id", session)
		}
		return h
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for _, c := range []struct{ at, client, want string }{
		{"/mcp", "", "gh__file"},
		{"/mcp", "claude-code", "gh__other"},
		{"/mcp", "other", "gh__file"},
		{"/mcp/files", "claude-code", "fs__ls"},
		{"/mcp?view=files", "", "fs__ls"},
		{"/mcp/files?view=files", "", "fs__ls"},
		{"/mcp/none", "", ""},
		{"/mcp?view=none", "", ""},
		{"/mcp/files?view=rest", "", ""},
		{"/mcp/", "", ""},
		{"/mcp/files/x", "", ""},
	} {
		more := ""
		if c.client != "" {
			more = fmt.Sprintf(`,"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}`, c.client)
		}
		body, head := request("1", "tools/list", `{}`, `{}`, more)
		status, _, stateless := do(c.at, body, head)
		begin, head, _ := do(c.at, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, c.client), old(""))
		if c.want == "" {
			if status != http.StatusNotFound || begin != http.StatusNotFound {
				t.Errorf("%v: got %d and %d, want 404", c, status, begin)
			}
			continue
		}
		id := head.Get("Mcp-Session-Id")
		_, _, session := do(c.at, list, old(id))
		for _, got := range []string{stateless, session} {
			if strings.Count(got, `"name":"gh__`)+strings.Count(got, `"name":"fs__`) != 1 || !strings.Contains(got, c.want) {
				t.Errorf("%v: got %s", c, got)
			}
		}
		for _, at := range []string{"/mcp", "/mcp/files", "/mcp/rest"} {
			same := at == "/mcp" && c.at == "/mcp" || at == "/mcp/files" && strings.Contains(c.at, "files")
			if status, _, _ := do(at, list, old(id)); (status == http.StatusOK) != same {
				t.Errorf("%v: the session at %s: got %d", c, at, status)
			}
		}
	}
}

// TestSetViews: clients hear of a change of their own list, and of no other; calls go on
// meanwhile, and each is answered as one of the views that were there says.
func TestSetViews(t *testing.T) {
	t.Parallel()
	servers := edited()
	set := func(tool string) *views.Set {
		return viewsOf(t, "", map[string]views.Config{"a": {Tools: []string{tool}}, "b": {Tools: []string{"fs__ls"}}})
	}
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Views: set("gh__other"), View: "a"})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := c.result("tools/list", `{}`)
	p.SetViews(set("gh__other"))
	p.SetViews(set("gh__*"))
	if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	if after := c.result("tools/list", `{}`); after == before || !strings.Contains(after, `"gh__file"`) {
		t.Errorf("got %s", after)
	}
	p.SetViews(nil)
	if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	if got := c.result("tools/list", `{}`); got != `{"tools":[]}` {
		t.Errorf("a view that is gone shows %s", got)
	}
	p.SetViews(set("gh__other"))
	<-c.notes
	select {
	case got := <-c.notes:
		t.Errorf("told of what has not changed: %s", got)
	default:
	}
	c.mu.Lock()
	c.note = func(string) {}
	c.mu.Unlock()
	var work sync.WaitGroup
	work.Go(func() {
		for i := range 200 {
			p.SetViews(set([]string{"gh__other", "*"}[i%2]))
		}
	})
	for i := range 500 {
		if got := <-c.begin(fmt.Sprint(1000+i), "tools/call", `{"name":"gh__other"}`); !strings.Contains(got, `"result"`) {
			t.Fatalf("got %s", got)
		}
	}
	work.Wait()
}
