package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
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

// asked returns the answers of a proxy to all surfaces, on each front and in both eras.
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
	front := p.NewHTTPFront(proxy.HTTPOptions{})
	defer front.Close()
	s := serveHTTP(t, front)
	defer s.close()
	w := &july{t: t, p: p, front: front, url: s.url, hc: s.client()}
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
	for name, s := range without.stubs {
		if a, b := strings.Join(with.stubs[name].seen, "\n"), strings.Join(s.seen, "\n"); a != b {
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
	for name, s := range without.stubs {
		if a, b := strings.Join(with.stubs[name].seen, "\n"), strings.Join(s.seen, "\n"); a != b || a == "" && name == "gh" {
			t.Errorf("%s was sent\n%s\nwant\n%s", name, a, b)
		}
	}
}
