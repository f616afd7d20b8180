package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// policies returns a set of the policies in a text.
func policies(tb testing.TB, text string) *policy.Set {
	tb.Helper()
	set, err := policy.Compile(policy.Config{
		Groups:  map[string][]string{"alice": {"token|alice"}},
		Sources: []policy.Source{{Name: "test.cedar", Text: []byte(text)}},
	})
	require.NoError(tb, err)
	return set
}

func gated(tb testing.TB, text string) *gate.Gate {
	tb.Helper()
	return gate.New(gate.Config{Set: policies(tb, text)})
}

// dialing counts which servers were connected.
type dialing struct {
	stubs
	mu sync.Mutex
	by map[string]int
}

func (d *dialing) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	d.mu.Lock()
	if d.by == nil {
		d.by = map[string]int{}
	}
	d.by[key.Server]++
	d.mu.Unlock()
	return d.stubs.dial(ctx, key, h)
}

func (d *dialing) of(server string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by[server]
}

// sent returns what a server was sent, in order. Whether it still hears that a client which has
// gone follows a resource no longer is a matter of time.
func (d *dialing) sent(server string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(d.stubs[server].seen), func(one string) bool {
		return strings.HasPrefix(one, "resources/unsubscribe ")
	}), "\n")
}

// hiding are policies under which some of what servers offer is hidden.
const hiding = `
@id("get") permit (principal, action, resource == Tool::"gh/get");
@id("deny") permit (principal, action, resource == Tool::"gh/deny");
@id("ask") permit (principal, action, resource == Prompt::"gh/ask");
@id("pub") permit (principal, action, resource == Resource::"gh/repo://pub");
@id("t") permit (principal, action, resource == Resource::"gh/repo://t/{x}");
@id("fs") permit (principal, action, resource in Server::"fs");
@id("question") permit (principal, action in [Action::"question", Action::"link"], resource);
@id("always") forbid (principal, action == Action::"call", resource == Tool::"gh/deny") when {context.front != "none"};
`

// offering are servers of which hiding hides something; without have nothing of that.
func offering(hidden bool) *dialing {
	more := func(text string) string {
		if hidden {
			return text
		}
		return ""
	}
	gh := &stub{version: "2025-11-25", capabilities: `{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"completions":{}}`, answers: map[string]string{
		"tools/list":               `{"tools":[{"name":"get","title":"Get","inputSchema":{"type":"object"}},{"name":"deny","inputSchema":{"type":"object"}}` + more(`,{"name":"merge","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://gh/x"}}}`) + `]}`,
		"prompts/list":             `{"prompts":[{"name":"ask"}` + more(`,{"name":"tell"}`) + `]}`,
		"resources/list":           `{"resources":[{"uri":"repo://pub","name":"n"}` + more(`,{"uri":"repo://priv","name":"p"},{"uri":"ui://gh/x","name":"x"}`) + `]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"repo://t/{x}","name":"n"}` + more(`,{"uriTemplate":"db://{x}","name":"n"}`) + `]}`,
		"tools/call":               `{"content":[]}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`, "completion/complete": `{"completion":{"values":["v"]}}`,
		"resources/subscribe": `{}`, "resources/unsubscribe": `{}`,
	}}
	fs := &stub{version: "2025-11-25", answers: map[string]string{
		"tools/list": `{"tools":[{"name":"ls","title":"List","inputSchema":{"type":"object"}}]}`, "prompts/list": `{"prompts":[]}`, "resources/list": `{"resources":[{"uri":"file:///a","name":"a"}]}`,
		"resources/templates/list": `{"resourceTemplates":[]}`, "tools/call": `{"content":[]}`, "resources/read": `{"contents":[]}`,
	}}
	all := stubs{"gh": gh, "fs": fs}
	if hidden {
		all["mail"] = &stub{version: "2025-11-25", answers: map[string]string{
			"tools/list": `{"tools":[{"name":"send","title":"Get","inputSchema":{"type":"object"}}]}`, "prompts/list": `{"prompts":[{"name":"p"}]}`,
			"resources/list": `{"resources":[{"uri":"mail://in","name":"n"}]}`, "resources/templates/list": `{"resourceTemplates":[]}`,
			"tools/call": `{"content":[]}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`,
		}}
	}
	return &dialing{stubs: all}
}

// surfaces are requests for what hiding hides, and lists of what there is: §3.3 of the
// specification.
var surfaces = [][2]string{
	{"tools/list", `{}`},
	{"prompts/list", `{}`},
	{"resources/list", `{}`},
	{"resources/templates/list", `{}`},
	{"tools/call", `{"name":"gh__merge"}`},
	{"tools/call", `{"name":"gh__merge","arguments":{"a":1},"task":{}}`},
	{"tools/call", `{"name":"gh__none"}`},
	{"tools/call", `{"name":"mail__send"}`},
	{"tools/call", `{"name":"mail__other"}`},
	{"tools/call", `{"name":"mail.send"}`},
	{"tools/call", `{"name":"mail/send"}`},
	{"tools/call", `{"name":"gh.merge"}`},
	{"tools/call", `{"name":"merge"}`},
	{"tools/call", `{"name":"send"}`},
	{"prompts/get", `{"name":"gh__tell"}`},
	{"prompts/get", `{"name":"mail__p"}`},
	{"prompts/get", `{"name":"gh.tell"}`},
	{"resources/read", `{"uri":"repo://priv"}`},
	{"resources/read", `{"uri":"repo://none"}`},
	{"resources/read", `{"uri":"REPO://priv"}`},
	{"resources/read", `{"uri":"mail://in"}`},
	{"resources/read", `{"uri":"mail://out"}`},
	{"resources/read", `{"uri":"mcpctl+mail://mail///in"}`},
	{"resources/read", `{"uri":"mcpctl+repo://gh///priv"}`},
	{"resources/read", `{"uri":"ui://gh/x"}`},
	{"resources/read", `{"uri":"ui://mail/x"}`},
	{"resources/read", `{"uri":"db://7"}`},
	{"resources/read", `{"uri":"none:x"}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"gh__tell"},"argument":{"name":"a","value":"v"}}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"mail__p"},"argument":{"name":"a","value":"v"}}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"db://{x}"},"argument":{"name":"a","value":"v"}}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"repo://priv"},"argument":{"name":"a","value":"v"}}`},
	{"tools/call", `{"name":"gh__get"}`},
	{"resources/read", `{"uri":"repo://pub"}`},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"repo://t/{x}"},"argument":{"name":"a","value":"v"}}`},
}

// asked returns the answers of a proxy to all surfaces, on each endpoint and in both eras.
func asked(t *testing.T, servers *dialing, o proxy.Options) (answers []string) {
	t.Helper()
	o.Dial, o.Info = servers.dial, runtime.Implementation{Name: "mcpctl", Version: "1"}
	o.Servers = proxy.Named("gh", "fs")
	if servers.stubs["mail"] != nil {
		o.Servers = proxy.Named("gh", "mail", "fs")
	}
	p, err := proxy.New(o)
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	answers = append(answers, c.result("initialize", greeting))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	w := &july{t: t, p: p, handler: handler, url: s.url, hc: s.client()}
	post := func(body string, head http.Header) string {
		resp := w.open(t.Context(), body, head)
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return fmt.Sprint(resp.StatusCode, " ", string(out))
	}
	old := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	ask := func(method, params string) {
		legacy := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params)
		body, head := request(`"x"`, method, params, `{}`, "")
		answers = append(answers,
			method+" "+params+" stdio: "+<-c.begin(`"x"`, method, params),
			method+" "+params+" stdio, stateless: "+c.july(`"x"`, method, params, `{}`),
			method+" "+params+" HTTP: "+post(legacy, old),
			method+" "+params+" HTTP, stateless: "+post(body, head))
	}
	for _, one := range surfaces {
		ask(one[0], one[1])
	}
	ask("server/discover", `{}`)
	answers = append(answers, "subscribe: "+<-c.begin(`"x"`, "resources/subscribe", `{"uri":"repo://priv"}`))
	answers = append(answers, "subscribe: "+<-c.begin(`"x"`, "resources/subscribe", `{"uri":"mail://in"}`))
	return answers
}

// TestHiddenIsUnknown: what a principal may not see is answered by every surface, in both
// eras and over each transport, as by a proxy whose servers never had it, byte for byte.
// The servers hear of nothing, and one that is hidden whole is not even connected.
func TestHiddenIsUnknown(t *testing.T) {
	t.Parallel()
	with, without := offering(true), offering(false)
	got := asked(t, with, proxy.Options{Gate: gated(t, hiding)})
	want := asked(t, without, proxy.Options{Gate: gated(t, hiding)})
	if len(got) != len(want) {
		t.Fatalf("got %d answers, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	for name := range without.stubs {
		if a, b := with.sent(name), without.sent(name); a != b {
			t.Errorf("%s was sent\n%s\nwant\n%s", name, a, b)
		}
	}
	if n := with.of("mail"); n != 0 {
		t.Errorf("a hidden server was connected %d times", n)
	}
}

// TestVisibleIsAsWithoutPolicies: under policies that allow all, every answer and all that
// servers are sent are as without any.
func TestVisibleIsAsWithoutPolicies(t *testing.T) {
	t.Parallel()
	with, without := offering(true), offering(true)
	got := asked(t, with, proxy.Options{Gate: gated(t, `@id("all") permit (principal, action, resource);`)})
	want := asked(t, without, proxy.Options{})
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	for name := range without.stubs {
		if a, b := with.sent(name), without.sent(name); a != b || a == "" && name == "gh" {
			t.Errorf("%s was sent\n%s\nwant\n%s", name, a, b)
		}
	}
}

// denying are policies under which everything is visible and some of it denied.
const denying = `
@id("all") permit (principal, action, resource);
@id("no-deny") @reason("not from here") forbid (principal, action, resource == Tool::"gh/deny") when {context.front != "none"};
@id("no-ask") forbid (principal, action == Action::"get", resource) when {context.front != "none"};
@id("no-priv") forbid (principal, action == Action::"read", resource == Resource::"gh/repo://priv") when {context.front != "none"};
@id("rate") @over("1/h") forbid (principal, action == Action::"call", resource == Tool::"mail/send");
`

// TestDenied: what is visible and denied is in the lists, and every use of it is one error
// in both eras and over each transport. Its server hears of nothing.
func TestDenied(t *testing.T) {
	t.Parallel()
	servers := offering(true)
	o := proxy.Options{Gate: gated(t, denying), Servers: proxy.Named("gh", "mail", "fs"), Dial: servers.dial}
	p, err := proxy.New(o)
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if list := c.result("tools/list", `{}`); !strings.Contains(list, "gh__deny") || !strings.Contains(list, "mail__send") {
		t.Errorf("got %s", list)
	}
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	w := &july{t: t, p: p, handler: handler, url: s.url, hc: s.client()}
	for _, one := range []struct{ method, params, want string }{
		{"tools/call", `{"name":"gh__deny"}`, `"error":{"code":-31009,"message":"denied: not from here (policy no-deny)","data":{"kind":"denied","policy":"no-deny","server":"gh","tool":"deny"}}`},
		{"tools/call", `{"name":"gh__deny","arguments":{},"_meta":{"progressToken":1}}`, `"policy":"no-deny"`},
		{"tools/call", `{"name":"gh.deny"}`, `"policy":"no-deny"`},
		{"prompts/get", `{"name":"gh__ask"}`, `"message":"denied (policy no-ask)","data":{"kind":"denied","policy":"no-ask","prompt":"ask","server":"gh"}}`},
		{"resources/read", `{"uri":"repo://priv"}`, `"data":{"kind":"denied","policy":"no-priv","server":"gh","uri":"repo://priv"}}`},
		{"resources/read", `{"uri":"mcpctl+repo://gh///priv"}`, `"policy":"no-priv"`},
		{"resources/subscribe", `{"uri":"repo://priv"}`, `"policy":"no-priv"`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"gh__ask"},"argument":{"name":"a","value":"v"}}`, `"policy":"no-ask"`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"repo://priv"},"argument":{"name":"a","value":"v"}}`, `"policy":"no-priv"`},
	} {
		legacy, stateless := <-c.begin(`"x"`, one.method, one.params), ""
		if !strings.Contains(legacy, one.want) || !strings.Contains(legacy, `"code":-31009`) {
			t.Errorf("%s %s: got %s\nwant %s", one.method, one.params, legacy, one.want)
		}
		if one.method == "resources/subscribe" || strings.Contains(one.params, "_meta") {
			continue
		}
		if stateless = c.july(`"x"`, one.method, one.params, `{}`); stateless != legacy {
			t.Errorf("%s %s: stateless %s\nwant %s", one.method, one.params, stateless, legacy)
		}
		if r := w.call(one.method, one.params, `{}`); r.status != http.StatusOK || !strings.Contains(r.raw, one.want) {
			t.Errorf("%s %s: HTTP %d %s", one.method, one.params, r.status, r.raw)
		}
	}
	for name, s := range servers.stubs {
		if s.calls() != 0 {
			t.Errorf("%s was sent %s", name, s.last())
		}
	}
	c.result("tools/call", `{"name":"mail__send"}`)
	if got := c.call("tools/call", `{"name":"mail__send"}`); !strings.Contains(got, `"code":-31029`) || !strings.Contains(got, `"kind":"limit"`) || !strings.Contains(got, `"retryAfter":3`) {
		t.Errorf("over a limit: got %s", got)
	}
	if n := servers.stubs["mail"].calls(); n != 1 {
		t.Errorf("the server was called %d times", n)
	}
}

// TestLacksScopes: where a credential with more scopes would do, HTTP says so.
func TestLacksScopes(t *testing.T) {
	t.Parallel()
	d, alice, _, _, _ := newAuthenticator(t)
	servers := offering(true)
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh"), Dial: servers.dial, Gate: gated(t, `@id("write") @scope("gh.write") permit (principal, action, resource);`)})
	require.NoError(t, err)
	defer p.Close()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	body, head := request(`"x"`, "tools/call", `{"name":"gh__get"}`, `{}`, "")
	old := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, one := range []struct {
		body string
		head http.Header
	}{{body, head}, {`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"gh__get"}}`, old}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(one.body))
		require.NoError(t, err)
		req.Header = one.head
		req.Header.Set("Authorization", "Bearer "+alice)
		resp, err := s.client().Do(req)
		require.NoError(t, err)
		out, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != http.StatusForbidden || !strings.HasPrefix(got, `Bearer realm="mcpctl", error="insufficient_scope"`) {
			t.Errorf("got %d %s", resp.StatusCode, got)
		}
		if !strings.Contains(string(out), `"code":-31009`) || !strings.Contains(string(out), `"scopes":["gh.write"]`) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %s", out)
		}
	}
	if n := servers.stubs["gh"].calls(); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
}

// TestListsChangeForWhoSees: after other policies, clients hear of a change of their own
// list, and of no other.
func TestListsChangeForWhoSees(t *testing.T) {
	t.Parallel()
	g := gated(t, `@id("all") permit (principal, action, resource);`)
	servers := offering(true)
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Gate: g})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	before := c.result("tools/list", `{}`)
	c.result("prompts/list", `{}`)
	repolicy := func(text string) {
		g.Replace(gate.Config{Set: policies(t, text)})
		p.Repolicy()
	}
	repolicy(`@id("all") permit (principal, action, resource); @id("alice") forbid (principal in Group::"alice", action, resource);`)
	repolicy(`@id("all") permit (principal, action, resource); @id("no") forbid (principal, action, resource == Tool::"gh/merge");`)
	if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	after := c.result("tools/list", `{}`)
	if after == before || strings.Contains(after, "merge") {
		t.Errorf("got %s", after)
	}
	repolicy(`@id("all") permit (principal, action, resource); @id("no") forbid (principal, action, resource == Tool::"gh/merge"); @id("other") forbid (principal, action == Action::"call", resource == Tool::"gh/get") when {context.task};`)
	repolicy(`@id("all") permit (principal, action, resource);`)
	if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
		t.Errorf("got %s", got)
	}
	select {
	case got := <-c.notes:
		t.Errorf("told of what has not changed: %s", got)
	default:
	}
	if got := c.result("tools/list", `{}`); got != before {
		t.Errorf("got %s\nwant %s", got, before)
	}
}
