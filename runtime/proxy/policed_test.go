package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

const allowAll = `@id("all") permit (principal, action, resource);`

// hears returns a function that counts the calls of tools that a server gets.
func hears(s *runtimetest.Server) (calls func() int) {
	var mu sync.Mutex
	n := 0
	s.Seen = func(frame []byte) {
		var m message
		if json.Unmarshal(frame, &m) == nil && m.Method == "tools/call" {
			mu.Lock()
			n++
			mu.Unlock()
		}
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// TestFastCallsAreDecided: a call that could be fast is decided by its arguments before a
// byte of it is sent, in both eras.
func TestFastCallsAreDecided(t *testing.T) {
	t.Parallel()
	b := two()
	calls := hears(b.servers["a"])
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b"), Gate: gated(t, allowAll+`
		@id("no-secrets") forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.args has text && context.args.text == "secret"};`)})
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__echo","arguments":{"text":"first"}}`)
	before := calls()
	for _, ask := range []func(params string) string{
		func(params string) string { return c.call("tools/call", params) },
		func(params string) string { return c.july(`"x"`, "tools/call", params, `{}`) },
	} {
		for _, arguments := range []string{`{"text":"secret"}`, `{"text":"sec\u0072et"}`, `{"text":"x","text":"secret"}`} {
			if got := ask(`{"name":"a__echo","arguments":` + arguments + `}`); !strings.Contains(got, `"code":-31009`) {
				t.Errorf("%s: got %s", arguments, got)
			}
		}
		if n := calls(); n != before {
			t.Fatalf("the server got %d calls", n-before)
		}
		if got := ask(`{"name":"a__echo","arguments":{"text":"plain"}}`); !strings.Contains(got, `"result"`) {
			t.Errorf("got %s", got)
		}
		before++
	}
}

// TestRepolicyUnderLoad: while policies change, each answer is that of one of them.
func TestRepolicyUnderLoad(t *testing.T) {
	t.Parallel()
	sets := []*policy.Set{
		policies(t, allowAll+`@id("no") forbid (principal, action, resource == Tool::"a/echo");`),
		policies(t, allowAll+`@id("no") forbid (principal, action, resource == Tool::"b/echo");`),
	}
	g := gate.New(gate.Config{Set: sets[0]})
	p, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b"), Gate: g})
	c.result("tools/list", `{}`)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		one := attach(t, p)
		one.note = func(string) {}
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if list := one.call("tools/list", `{}`); strings.Contains(list, "a__echo") == strings.Contains(list, "b__echo") {
					t.Errorf("half a policy: %s", list)
					return
				}
				name := []string{"a__echo", "b__echo"}[(n+i)%2]
				if got := one.call("tools/call", `{"name":"`+name+`","arguments":{"text":"t"}}`); !strings.Contains(got, `"result"`) && !strings.Contains(got, "unknown tool: "+name) {
					t.Errorf("got %s", got)
					return
				}
			}
		})
	}
	c.note = func(string) {}
	for n := range 200 {
		g.Replace(gate.Config{Set: sets[n%2]})
		p.Repolicy()
	}
	close(done)
	wg.Wait()
}

// TestUpdatesFallSilent: nobody hears of a resource that is hidden from them since they have
// subscribed to it.
func TestUpdatesFallSilent(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full("2025-11-25")
	g := gated(t, allowAll)
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{Gate: g})
	c := attach(t, p)
	c.result("resources/subscribe", `{"uri":"fake://note"}`)
	c.result("resources/subscribe", `{"uri":"fake://blob"}`)
	g.Replace(gate.Config{Set: policies(t, allowAll+`@id("no") forbid (principal, action, resource == Resource::"a/fake://note");`)})
	p.Repolicy()
	s.Touch("fake://note")
	s.Touch("fake://blob")
	if got := <-c.notes; !strings.Contains(got, "fake://blob") {
		t.Errorf("got %s", got)
	}
	g.Replace(gate.Config{Set: policies(t, allowAll)})
	p.Repolicy()
	s.Touch("fake://note")
	if got := <-c.notes; !strings.Contains(got, "fake://note") {
		t.Errorf("got %s", got)
	}
}

// TestListensEnd: a listen of the modern era that names a resource ends when that is hidden
// from its client, with a result; another one goes on. Who listens again is told that the
// resource is not there.
func TestListensEnd(t *testing.T) {
	t.Parallel()
	s := runtimetest.Full("2025-11-25")
	g := gated(t, allowAll)
	b := newPool(map[string]*runtimetest.Server{"a": s})
	p := b.serve(t, proxy.Options{Gate: g})
	c := attach(t, p)
	listen := func(id, uris string) string {
		t.Helper()
		c.send(julyLine(id, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":[`+uris+`]}}`, `{}`, ""))
		return <-c.notes
	}
	listen(`"both"`, `"fake://note","fake://blob"`)
	listen(`"blob"`, `"fake://blob"`)
	result := c.expect(`"both"`)
	g.Replace(gate.Config{Set: policies(t, allowAll+hidesNo)})
	p.Repolicy()
	if got := <-c.notes; !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, `"requestId":"both"`) {
		t.Errorf("got %s", got)
	}
	if got := <-result; !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("got %s", got)
	}
	s.Touch("fake://note")
	s.Touch("fake://blob")
	if got := <-c.notes; !strings.Contains(got, "fake://blob") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"blob"`) {
		t.Errorf("got %s", got)
	}
	got, unknown := listen(`"again"`, `"fake://note"`), listen(`"again"`, `"fake://nope"`)
	if got != unknown || strings.Contains(got, "fake://") {
		t.Errorf("got %s, of what is unknown %s", got, unknown)
	}
}

// hidesNo hides resources by the beginning of their URI.
const hidesNo = `@id("no") forbid (principal, action, resource is Resource) when {resource.uri like "fake://no*"};`

// TestHiddenResources: a policy that hides URIs hides which of them there are: one that the
// server lists is answered as one that it does not know, also where the one server answers
// for all that nobody lists. The server hears of neither.
func TestHiddenResources(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		s := runtimetest.Full("2025-11-25")
		heard := make(chan string, 100)
		b := newPool(map[string]*runtimetest.Server{"a": s})
		c := attach(t, b.serve(t, proxy.Options{Single: single, Gate: gated(t, allowAll+hidesNo)}))
		c.result("resources/list", `{}`)
		s.Seen = func(frame []byte) {
			if strings.Contains(string(frame), "fake://no") {
				heard <- string(frame)
			}
		}
		ask := func(method, params, uri string) string {
			return strings.ReplaceAll(<-c.begin(`"same"`, method, strings.ReplaceAll(params, "URI", uri)), uri, "URI")
		}
		for method, params := range map[string]string{
			"resources/read": `{"uri":"URI"}`, "resources/subscribe": `{"uri":"URI"}`, "resources/unsubscribe": `{"uri":"URI"}`,
			"completion/complete": `{"ref":{"type":"ref/resource","uri":"URI"},"argument":{"name":"a","value":"v"}}`,
		} {
			got, unknown := ask(method, params, "fake://note"), ask(method, params, "fake://nope")
			if got != unknown || !strings.Contains(got, `"error"`) && method != "resources/unsubscribe" {
				t.Errorf("single: %t, %s: got %s, of what is unknown %s", single, method, got, unknown)
			}
		}
		if got := ask("resources/read", `{"uri":"URI"}`, "fake://blob"); !strings.Contains(got, `"result"`) {
			t.Errorf("single: %t: got %s", single, got)
		}
		select {
		case frame := <-heard:
			t.Errorf("single: %t: the server hears %s", single, frame)
		default:
		}
		c.end()
	}
}

// TestSpelledResources: what policies or a view hide is so however its URI is written, for each
// method that names a resource. The server hears of none of it.
func TestSpelledResources(t *testing.T) {
	t.Parallel()
	hidden := map[string]proxy.Options{
		"policies": {Gate: gated(t, allowAll+`@id("no") forbid (principal, action, resource in Label::"a/file:///D/priv/**");
@id("net") forbid (principal, action, resource in Label::"a/https://intranet.example/**");`)},
		"a view":          {Views: viewsOf(t, "v", map[string]views.Config{"v": {Resources: []string{"!file:///D/priv/*", "!https://intranet.example/*"}}})},
		"a view, spelled": {Views: viewsOf(t, "v", map[string]views.Config{"v": {Resources: []string{"*", "!FILE:/D/priv/*", "!https://Intranet.Example:443/*"}}})},
	}
	for name, o := range hidden {
		s := runtimetest.Full("2025-11-25")
		b := newPool(map[string]*runtimetest.Server{"a": s})
		o.Single = true
		c := attach(t, b.serve(t, o))
		c.result("resources/list", `{}`)
		heard := make(chan string, 1000)
		s.Seen = func(frame []byte) {
			if strings.Contains(string(frame), "priv") || strings.Contains(strings.ToLower(string(frame)), "intranet") {
				heard <- string(frame)
			}
		}
		for method, params := range map[string]string{
			"resources/read": `{"uri":URI}`, "resources/subscribe": `{"uri":URI}`,
			"completion/complete": `{"ref":{"type":"ref/resource","uri":URI},"argument":{"name":"a","value":"v"}}`,
		} {
			ask := func(uri string) string {
				quoted, _ := json.Marshal(uri)
				got := <-c.begin(`"same"`, method, strings.ReplaceAll(params, "URI", string(quoted)))
				return strings.ReplaceAll(strings.ReplaceAll(got, string(quoted), "URI"), uri, "URI")
			}
			want := ask("file:///D/priv/x")
			for _, uri := range []string{
				"file://localhost/D/priv/x", "file:/D/priv/x", "file:///D/pub?/../priv/x", "file:///D/pub#/../priv/x", "file:///D//priv/x", "FILE:///D/priv/x",
				"https://intranet.example", "https://intranet.example:443/x", "https://u@intranet.example/x", "https://intranet.example./x", "https:intranet.example/x", "https:/intranet.example/x",
				"https:///intranet.example/x", "https://INTRANET.example/x", "https://intranet.example/a/..%2fx",
			} {
				if got := ask(uri); got != want || !strings.Contains(got, `"error"`) {
					t.Errorf("%s, %s: %s is answered by %s, want %s", name, method, uri, got, want)
				}
			}
		}
		for len(heard) > 0 {
			t.Errorf("%s: the server hears %s", name, <-heard)
		}
		c.end()
	}
}

// TestQuestionsAreDecided: a server whose questions are not allowed reaches no person. One
// of the handshake era gets an error; a call to one that asks in its result is denied.
func TestQuestionsAreDecided(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{runtimetest.RevNov: "is not to be asked for elicitation/create", runtimetest.RevJuly: `"code":-31009`} {
		b := newPool(map[string]*runtimetest.Server{"a": askingForm(version, nil)})
		p := b.serve(t, proxy.Options{Gate: gated(t, allowAll+`@id("no-questions") forbid (principal, action == Action::"question", resource);`)})
		c := attach(t, p)
		c.answer = func(message) string {
			t.Error("the client was asked")
			return `{"action":"accept","content":{"name":"n"}}`
		}
		if got := c.july(`"x"`, "tools/call", `{"name":"a__asks","arguments":{}}`, canElicit); !strings.Contains(got, want) || strings.Contains(got, "inputRequests") {
			t.Errorf("%s: got %s", version, got)
		}
		c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+canElicit+`,"clientInfo":{"name":"c","version":"1"}}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if got := c.call("tools/call", `{"name":"a__asks","arguments":{}}`); !refuses(got) {
			t.Errorf("%s: got %s", version, got)
		}
		c.end()
	}
}

// TestTasksOfHiddenTools: a task whose tool is hidden by now is an unknown one.
func TestTasksOfHiddenTools(t *testing.T) {
	t.Parallel()
	g := gated(t, allowAll)
	s, tasks := taskServer([]string{runtimetest.RevJuly}, "required")
	defer tasks.Close()
	p := tasksEndpoint(t, map[string]*runtimetest.Server{"a": s}, proxy.Options{Gate: g})
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	ask := func(method, members string) string { return c.call(method, modern(takesTasks, members)) }
	tool := cutOut(ask("tools/list", ""), `"name":"`, `"`)
	id := cutOut(ask("tools/call", `,"name":"`+tool+`","arguments":{}`), `"taskId":"`, `"`)
	if got := ask("tasks/get", `,"taskId":"`+id+`"`); !strings.Contains(got, `"status"`) {
		t.Fatalf("got %s", got)
	}
	g.Replace(gate.Config{Set: policies(t, allowAll+`@id("no") forbid (principal, action, resource == Tool::"a/work");`)})
	p.Repolicy()
	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		_, got, _ := strings.Cut(ask(method, `,"taskId":"`+id+`"`), `"error"`)
		_, want, _ := strings.Cut(ask(method, `,"taskId":"a.none"`), `"error"`)
		if !strings.Contains(got, "unknown task") || strings.Contains(want, "unknown task") && got != want {
			t.Errorf("%s: got %s, want %s", method, got, want)
		}
	}
}

// TestMarks: what a conversation has been given decides what it may do next, in each
// session, process and named conversation apart.
func TestMarks(t *testing.T) {
	t.Parallel()
	set, err := policy.Compile(policy.Config{
		Labels:  map[string][]string{"private": {"a/echo"}, "outbound": {"b/echo"}},
		Sources: []policy.Source{{Name: "t.cedar", Text: []byte(allowAll + `@id("no-exfil") forbid (principal, action == Action::"call", resource in Label::"outbound") when {context.seen.contains("private")};`)}},
	})
	require.NoError(t, err)
	p, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b"), Gate: gate.New(gate.Config{Set: set})})
	handler := p.NewHTTPHandler(proxy.HTTPOptions{})
	s := serveHTTP(t, handler)
	defer s.close()
	defer handler.Close()
	w := &july{t: t, p: p, handler: handler, url: s.url, hc: s.client()}
	over := func(flow string) func(name string) string {
		return func(name string) string {
			body, head := request(`"x"`, "tools/call", `{"name":"`+name+`","arguments":{"text":"t"}}`, `{}`, `,"dev.mcpctl/flow":"`+flow+`"`)
			return w.send(body, head).raw
		}
	}
	for name, ask := range map[string]func(name string) string{
		"stdio":   func(name string) string { return c.call("tools/call", `{"name":"`+name+`","arguments":{"text":"t"}}`) },
		"flow 1":  over("1"),
		"flow 2":  over("2"),
		"session": inSession(t, w.url, s.client()),
	} {
		for i, tool := range []string{"b__echo", "a__echo", "b__echo"} {
			if got := ask(tool); strings.Contains(got, `"code":-31009`) != (i == 2) {
				t.Errorf("%s, call %d: got %s", name, i, got)
			}
		}
	}
}

// inSession returns a function that calls tools in a session over HTTP.
func inSession(t *testing.T, url string, hc *http.Client) func(name string) string {
	t.Helper()
	id := ""
	post := func(body string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if id != "" {
			req.Header.Set("Mcp-Session-Id", id)
		}
		resp, err := hc.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		if id == "" {
			id = resp.Header.Get("Mcp-Session-Id")
		}
		var out strings.Builder
		_, _ = fmt.Fprint(&out, resp.StatusCode, " ")
		buf := make([]byte, 64<<10)
		for {
			n, err := resp.Body.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				return out.String()
			}
		}
	}
	post(hello("2025-11-25"))
	return func(name string) string {
		return post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":{"text":"t"}}}`)
	}
}

// TestBatchWithOneDenied: the others of a batch are answered.
func TestBatchWithOneDenied(t *testing.T) {
	t.Parallel()
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b"), Gate: gated(t, allowAll+`
		@id("no") forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.front == "stdio"};`)})
	c.result("initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__echo","arguments":{"text":"t"}}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b__echo","arguments":{"text":"t"}}}]`)
	var got []struct {
		ID     int
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	line := wait.For(t, "an answer", c.notes)
	require.NoError(t, json.Unmarshal([]byte(line), &got))
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	for _, one := range got {
		if denied := one.Error != nil && one.Error.Code == -31009; denied != (one.ID == 1) {
			t.Errorf("got %+v", one)
		}
	}
}

// TestSingleIsDecided: a proxy that stands for one server passes on what is allowed, and
// hides the rest as well.
func TestSingleIsDecided(t *testing.T) {
	t.Parallel()
	servers := offering(true)
	o := proxy.Options{Single: true, Servers: proxy.Named("gh"), Dial: servers.dial, Gate: gated(t, hiding)}
	p, err := proxy.New(o)
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := c.result("tools/list", `{}`); strings.Contains(got, "merge") || !strings.Contains(got, `"get"`) {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"get"}`)
	before := servers.stubs["gh"].calls()
	for method, params := range map[string]string{
		"tools/call": `{"name":"merge"}`, "prompts/get": `{"name":"tell"}`, "resources/read": `{"uri":"repo://priv"}`, "gh/own": `{}`,
	} {
		if got := c.call(method, params); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	for _, params := range []string{`{"name":"deny"}`} {
		if got := c.call("tools/call", params); !strings.Contains(got, `"code":-31009`) {
			t.Errorf("%s: got %s", params, got)
		}
	}
	if n := servers.stubs["gh"].calls(); n != before {
		t.Errorf("the server was sent %s", servers.stubs["gh"].last())
	}
}

// TestPinShown: what has another definition than a client was shown is not called until
// the client has listed again, also where a person has approved it.
func TestPinShown(t *testing.T) {
	t.Parallel()
	a := pinnedServer()
	policies := map[string]lockfile.Policy{"a": {Mode: lockfile.Hold, Locked: lock(t)}}
	g := guard(&journal{}, policies)
	c, p := world(t, stubs{"a": a}, proxy.Options{Servers: proxy.Named("a"), Pins: g, Gate: gated(t, allowAll)})
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__held1"}`)
	a.change()
	a.changed(c, "tools")
	approved := lock(t)
	for _, change := range g.Verdict("a").Changes {
		approved.TakeChange(&change)
	}
	policies["a"] = lockfile.Policy{Mode: lockfile.Hold, Locked: approved}
	p.Repin(g.Set(policies))
	if got := <-c.notes; !strings.Contains(got, "list_changed") {
		t.Errorf("got %s", got)
	}
	before := a.calls()
	for _, got := range []string{c.call("tools/call", `{"name":"a__held1"}`), c.july(`"x"`, "tools/call", `{"name":"a__held1"}`, `{}`)} {
		if !strings.Contains(got, `"code":-31009`) || !strings.Contains(got, `"policy":"mcpctl.pin"`) {
			t.Errorf("got %s", got)
		}
		if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
			t.Errorf("got %s", got)
		}
	}
	c.result("tools/call", `{"name":"a__kept"}`)
	if n := a.calls(); n != before+1 {
		t.Errorf("the server was called: %s", a.last())
	}
	c.result("tools/list", `{}`)
	c.result("tools/call", `{"name":"a__held1"}`)
}

// TestErrorsMark: what a server says in a JSON-RPC error is as much as what it says in a
// result: the conversation has its labels, and guards look at it. An error of the proxy
// says nothing of the server's.
func TestErrorsMark(t *testing.T) {
	t.Parallel()
	set, err := policy.Compile(policy.Config{
		Labels: map[string][]string{"private": {"a/lacks"}, "outbound": {"b/echo"}},
		Sources: []policy.Source{{Name: "t.cedar", Text: []byte(allowAll + `@id("no-exfil") forbid (principal, action == Action::"call", resource in Label::"outbound") when {context.seen.contains("private")};
			@id("never") forbid (principal, action == Action::"call", resource == Tool::"a/lacks") when {context.args has never};`)}},
	})
	require.NoError(t, err)
	look, err := guards.New(guards.Config{Secrets: guards.Redact, Canaries: []string{"blue-heron-42"}})
	require.NoError(t, err)
	for _, modern := range []bool{false, true} {
		b := two()
		b.servers["a"].Tools = append(b.servers["a"].Tools, runtimetest.Tool{
			Definition: json.RawMessage(`{"name":"lacks","inputSchema":{"type":"object"}}`),
			Call: func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
				return nil, &runtime.Error{Code: -32055, Message: "no note named blue-heron-42", Data: json.RawMessage(`{"all":["blue-heron-42","x"]}`)}
			},
		})
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b"), Gate: gate.New(gate.Config{Set: set, Guards: look})})
		call := func(params string) string {
			if modern {
				return c.july(`"x"`, "tools/call", params, `{}`)
			}
			return c.call("tools/call", params)
		}
		send := func() string { return call(`{"name":"b__echo","arguments":{"text":"t"}}`) }
		if got := call(`{"name":"a__lacks","arguments":{"never":1}}`); !strings.Contains(got, `"code":-31009`) {
			t.Errorf("modern %t: got %s", modern, got)
		}
		if got := send(); !strings.Contains(got, `"result"`) {
			t.Errorf("modern %t: after an error of the proxy: got %s", modern, got)
		}
		if got := call(`{"name":"a__lacks","arguments":{}}`); !strings.Contains(got, `"code":-32055`) || !strings.Contains(got, `"x"]`) || strings.Contains(got, "heron") {
			t.Errorf("modern %t: got %s", modern, got)
		}
		if got := send(); !strings.Contains(got, `"code":-31009`) {
			t.Errorf("modern %t: after an error of the server: got %s", modern, got)
		}
	}
}
