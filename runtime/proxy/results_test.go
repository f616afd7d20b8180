package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// issues returns a document with n elements, each with more than anybody wants.
func issues(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"number": %d, "id": 9007199254740993, "user": {"login": "u%d", "url": "https://example.org/%d"}, "unknown": {"x": [1.0]}}`, i, i, i)
	}
	return `{"total_count": ` + fmt.Sprint(n) + `, "items": [` + strings.Join(all, ", ") + `]}`
}

func textOf(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// talkative is a server with long results.
func talkative() *dialing {
	failing := strings.TrimSuffix(textOf(strings.Repeat("at some place in a long trace\n", 300)+"the cause"), "}") + `,"isError":true}`
	return &dialing{stubs: stubs{
		"gh": &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
			"tools/list": `{"tools":[{"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["total_count"]}},{"name":"small","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`,
			"tools/call": strings.TrimSuffix(textOf(issues(200)), "}") + `,"structuredContent":` + issues(200) + `,"_meta":{"x/y":9007199254740993}}`,
		}},
		"fs": &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
			"tools/list": `{"tools":[{"name":"trace","inputSchema":{"type":"object"}}]}`, "tools/call": failing,
		}},
	}}
}

// answered is an answer with a result of a tool, or of a resource.
type answered struct {
	Error  *struct{ Message string }
	Result struct {
		Content []struct {
			Type, Text, URI, MimeType string
			Size                      int
		}
		Contents []struct{ URI, MimeType, Text string }

		StructuredContent json.RawMessage
		IsError           bool
		ResultType        string
		Meta              map[string]json.RawMessage `json:"_meta"`
	}
}

func parsed(t *testing.T, answer string) (a answered) {
	t.Helper()
	if i := strings.Index(answer, "data: {"); i >= 0 {
		answer = answer[i+len("data: "):]
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &a))
	return a
}

// talking is a way with which a test asks.
type talking struct {
	t *testing.T
	*way
	name string
}

func (a talking) ask(method, params string) string { return a.way.ask(a.t.Context(), method, params) }

var readOn = regexp.MustCompile(`^showing ([0-9,]+) of ([0-9,]+) (\w+) \(\d+ %\)(?: from \d+)?(?:; (\w+) id=(\w+) from=(\d+))?`)

// TestPaged: a long result is a page, a link and a line, in both eras and over each transport;
// what is read on joins to the whole, and so does the resource.
func TestPaged(t *testing.T) {
	t.Parallel()
	servers := talkative()
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Info: runtime.Implementation{Name: "mcpctl"},
		Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 1000}}}),
	})
	require.NoError(t, err)
	defer p.Close()
	for name, begin := range waysTo(t, p) {
		w := talking{t, begin(), name}
		list := w.ask("tools/list", `{}`)
		if strings.Contains(list, "outputSchema") || strings.Count(list, `"name":"read_result"`) != 1 || strings.Count(list, `"inputSchema"`) != 4 || strings.Contains(list, "search_tools") {
			t.Errorf("%s: got %s", w.name, list)
		}
		first := w.ask("tools/call", `{"name":"gh__list"}`)
		a := parsed(t, first)
		if len(a.Result.Content) != 3 || a.Result.StructuredContent != nil || string(a.Result.Meta["x/y"]) != "9007199254740993" || strings.Contains(w.name, "stateless") != (a.Result.ResultType == "complete") {
			t.Fatalf("%s: got %s", w.name, first)
		}
		link, line := a.Result.Content[1], a.Result.Content[2].Text
		on := readOn.FindStringSubmatch(line)
		if on == nil || on[2] != "200" || on[3] != "items" || on[4] != "read_result" || on[1] != on[6] || link.Type != "resource_link" || link.URI != "mcpctl+result://"+on[5] || link.MimeType != "application/json" || link.Size != len(issues(200)) {
			t.Fatalf("%s: got %s", w.name, first)
		}
		var all []json.RawMessage
		add := func(text string, into any, items *[]json.RawMessage) {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatalf("%s: a page is no JSON: %v: %s", w.name, err, text)
			}
			all = append(all, *items...)
		}
		var whole struct {
			Items []json.RawMessage
			Total int `json:"total_count"`
		}
		if add(a.Result.Content[0].Text, &whole, &whole.Items); whole.Total != 200 {
			t.Errorf("%s: got %s", w.name, first)
		}
		for n := 0; on[4] != "" && n < 100; n++ {
			if fmt.Sprint(len(all)) != on[6] {
				t.Fatalf("%s: %d items, and from=%s", w.name, len(all), on[6])
			}
			page := w.ask("tools/call", `{"name":"read_result","arguments":{"id":"`+on[5]+`","from":`+on[6]+`}}`)
			a := parsed(t, page)
			var items []json.RawMessage
			add(a.Result.Content[0].Text, &items, &items)
			if on = readOn.FindStringSubmatch(a.Result.Content[1].Text); on == nil || strings.Contains(w.name, "stateless") != (a.Result.ResultType == "complete") {
				t.Fatalf("%s: got %s", w.name, page)
			}
		}
		var want struct{ Items []json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(issues(200)), &want))
		if got, want := fmt.Sprintf("%s", all), fmt.Sprintf("%s", want.Items); got != want {
			t.Errorf("%s: pages joined are %s", w.name, got)
		}
		read := w.ask("resources/read", `{"uri":"`+link.URI+`"}`)
		if c := parsed(t, read).Result.Contents; len(c) != 1 || c[0].Text != issues(200) || c[0].URI != link.URI || c[0].MimeType != "application/json" {
			t.Errorf("%s: got %s", w.name, read)
		}
		// An error has its end.
		a = parsed(t, w.ask("tools/call", `{"name":"fs__trace"}`))
		if c := a.Result.Content; !a.Result.IsError || len(c) != 3 || !strings.HasSuffix(c[0].Text, "\nthe cause") || !strings.HasPrefix(c[2].Text, "showing the last ") || !strings.HasSuffix(c[2].Text, " from=0") {
			t.Errorf("%s: got %+v", w.name, c)
		}
		for arguments, want := range map[string]string{
			`{"id":"none"}`:                         "the result is gone: call its tool again",
			`{}`:                                    "want {",
			`{"id":"x","match":"("}`:                "at /match: ",
			`{"id":"x","fields":["a..b"]}`:          "at /fields: ",
			`{"id":"` + link.URI + `","from":9000}`: "showing 0 of 200 items (0 %) from 200",
			`{"id":"` + link.URI + `","match":"\"u19?9\"","fields":["items[].user.login"]}`: `[{\"user\":{\"login\":\"u19\"}},{\"user\":{\"login\":\"u199\"}}]`,
		} {
			got := w.ask("tools/call", `{"name":"read_result","arguments":`+arguments+`}`)
			if !strings.Contains(got, want) || strings.Contains(want, "showing") == strings.Contains(got, `"isError":true`) && !strings.Contains(want, "u19") {
				t.Errorf("%s: %s: got %s", w.name, arguments, got)
			}
		}
		if got := w.ask("resources/read", `{"uri":"mcpctl+result://none"}`); !strings.Contains(got, "the result is gone: call its tool again") || !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", w.name, got)
		}
		w.end()
	}
}

// TestProjected: of a result a view keeps some members, and call_tool fewer; all forms of the
// list have what they are to have.
func TestProjected(t *testing.T) {
	t.Parallel()
	servers := talkative()
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Info: runtime.Implementation{Name: "mcpctl"},
		Views: viewsOf(t, "v", map[string]views.Config{"v": {
			List: views.ListSearch, Pin: []string{"gh__small", "gh__list", "fs__trace"},
			Override: map[string]views.Override{"gh__list": {Result: &views.Result{Fields: []string{"items[].id", "items.user.login"}}}},
		}}),
	})
	require.NoError(t, err)
	defer p.Close()
	one := `{"user":{"login":"u7"}}`
	for name, begin := range waysTo(t, p) {
		w := talking{t, begin(), name}
		if list := w.ask("tools/list", `{}`); strings.Contains(list, "read_result") || strings.Count(list, `"outputSchema"`) != 1 {
			t.Errorf("%s: got %s", name, list)
		}
		for call, want := range map[string]string{
			`{"name":"gh__list"}`: `{"id":9007199254740993,"user":{"login":"u7"}}`,
			`{"name":"call_tool","arguments":{"name":"gh__list","fields":["items.user","items.number"]}}`: one,
			`{"name":"call_tool","arguments":{"name":"gh__small","fields":["items.user.login"]}}`:         one,
		} {
			a := parsed(t, w.ask("tools/call", call))
			for _, text := range []string{string(a.Result.StructuredContent), a.Result.Content[0].Text} {
				var got struct{ Items []json.RawMessage }
				if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Items) != 200 || string(got.Items[7]) != want || strings.Contains(text, "total_count") {
					t.Errorf("%s: %s: got %.300s", name, call, text)
				}
			}
		}
		if got := w.ask("tools/call", `{"name":"gh__small"}`); !strings.Contains(got, `"unknown": {"x": [1.0]}`) {
			t.Errorf("%s: a tool without settings: got %.300s", name, got)
		}
		if got := w.ask("tools/call", `{"name":"call_tool","arguments":{"name":"gh__list","fields":"items"}}`); !strings.Contains(got, "at /fields: want a list of texts") {
			t.Errorf("%s: got %.300s", name, got)
		}
		w.end()
	}
}

// TestReadResultListed: the list has the tool in each form, and under the name that a view gives
// it, and names of servers go before it.
func TestReadResultListed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]views.Config{
		"fs__trace gh__list gh__small read_result":            {},
		"gh__list search_tools call_tool call_read_tool more": {List: views.ListSearch, Pin: []string{"gh__list"}, Override: map[string]views.Override{"read_result": {Name: "more"}}},
		"search_tools call_tool call_read_tool read_result":   {List: views.ListAuto, Budget: 1},
		"fs__trace gh__small read_result mcpctl_read_result":  {Override: map[string]views.Override{"gh__list": {Name: "read_result"}}},
		"gh__small fs__trace gh__list read_result":            {List: views.ListAuto, Pin: []string{"gh__small"}},
	} {
		c.Results = &views.Result{MaxTokens: 500}
		p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: talkative().dial, Views: viewsOf(t, "v", map[string]views.Config{"v": c}), PageSize: 2})
		require.NoError(t, err)
		client := attach(t, p)
		client.result("initialize", greeting)
		names, cursor := "", ""
		for {
			page := client.result("tools/list", `{`+cursor+`}`)
			names = strings.TrimSpace(names + " " + listedNames(t, page))
			next := cutOut(page, `"nextCursor":"`, `"`)
			if next == "" {
				break
			}
			cursor = `"cursor":"` + next + `"`
		}
		if names != want {
			t.Errorf("got %s, want %s", names, want)
		}
		tool := names[strings.LastIndexByte(names, ' ')+1:]
		call := strings.Fields("gh__list read_result")[strings.Count(want, "mcpctl")]
		line := parsed(t, `{"result":`+client.result("tools/call", `{"name":"`+call+`"}`)+`}`).Result.Content[2].Text
		on := readOn.FindStringSubmatch(line)
		if on == nil || on[4] != tool {
			t.Fatalf("%s: got %s", want, line)
		}
		if got := client.result("tools/call", `{"name":"`+tool+`","arguments":{"id":"`+on[5]+`","from":`+on[6]+`}}`); !strings.Contains(got, " from "+on[6]) {
			t.Errorf("%s: got %s", want, got)
		}
		client.end()
		_ = p.Close()
	}
}

// TestResultsApart: what is kept for one principal in one view is gone for all others, and for
// itself once it may not use the tool any more. A canary in it appears nowhere.
func TestResultsApart(t *testing.T) {
	t.Parallel()
	servers := talkative()
	servers.stubs["gh"].answers["tools/call"] = textOf(strings.Repeat("canary-of-alice is here\n", 2000))
	d, alice, bob, _, _ := newAuthenticator(t)
	sets := func() *views.Set {
		return viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500}}, "other": {Results: &views.Result{MaxTokens: 500}}})
	}
	gate := gated(t, `@id("all") permit (principal, action, resource);`)
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Views: sets(), Gate: gate})
	require.NoError(t, err)
	defer p.Close()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d, Path: "/mcp"})
	defer handler.Close()
	s := serveHTTP(t, handler)
	defer s.close()
	in := func(view string) *behindAuth { return &behindAuth{t, s.url + "/mcp" + view, s.client()} }
	first := in("").ask(alice, "tools/call", `{}`, `,"name":"gh__list","arguments":{}`)
	id := cutOut(first, "read_result id=", " ")
	if id == "" {
		t.Fatalf("got %.500s", first)
	}
	read := func(at *behindAuth, token, id string) (all string) {
		return at.ask(token, "tools/call", `{}`, `,"name":"read_result","arguments":{"id":"`+id+`"}`)
	}
	if got := read(in(""), alice, id); !strings.Contains(got, "canary-of-alice") {
		t.Errorf("got %s", got)
	}
	unknown := strings.Repeat("a", len(id))
	want := read(in(""), bob, unknown)
	if !strings.Contains(want, "the result is gone: call its tool again") {
		t.Errorf("got %s", want)
	}
	for name, got := range map[string]string{"bob": read(in(""), bob, id), "bob, as a URI": read(in(""), bob, "mcpctl+result://"+id), "another view": read(in("/other"), alice, id)} {
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	resource := func(token, id string) string {
		body := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":` + modern(`{}`, `,"uri":"mcpctl+result://`+id+`"`) + `}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(body))
		require.NoError(t, err)
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"resources/read"}, "Mcp-Name": {"mcpctl+result://" + id},
		}
		resp, err := s.client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var out strings.Builder
		_, err = fmt.Fprint(&out, resp.StatusCode)
		require.NoError(t, err)
		var a json.RawMessage
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&a))
		return string(a)
	}
	if got := resource(alice, id); !strings.Contains(got, "canary-of-alice") || !strings.Contains(got, `"cacheScope":"private"`) {
		t.Errorf("got %.400s", got)
	}
	if got, want := resource(bob, id), strings.ReplaceAll(resource(bob, unknown), unknown, id); got != want || !strings.Contains(got, "is gone") {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, method := range []string{"tools/list", "resources/list"} {
		if got := in("").ask(bob, method, `{}`, ``); strings.Contains(got, "canary") || strings.Contains(got, id) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	p.SetViews(sets())
	if got := read(in(""), alice, id); got != want {
		t.Errorf("after a reload: got %s", got)
	}
}

// TestReadRecorded: who reads on in a result, as a tool or as a resource, has its tool's result delivered, and is in the
// log as that. A result that is gone was not given out.
func TestReadRecorded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
		j, log := journaled(t, recording.Options{})
		p, err := proxy.New(proxy.Options{
			Servers: proxy.Named("gh", "fs"), Dial: talkative().dial, Journal: j, Gate: gated(t, allowAll),
			Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500}, Override: map[string]views.Override{"read_result": {Name: "more"}}}}),
		})
		require.NoError(t, err)
		w := talking{t, waysTo(t, p)[name](), name}
		id := readOn.FindStringSubmatch(parsed(t, w.ask("tools/call", `{"name":"gh__list"}`)).Result.Content[2].Text)[5]
		const unknown = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
		for _, of := range []string{id, unknown} {
			w.ask("tools/call", `{"name":"more","arguments":{"id":"`+of+`","from":5}}`)
			w.ask("resources/read", `{"uri":"mcpctl+result://`+of+`"}`)
		}
		w.end()
		_ = p.Close()
		lost := "read /mcpctl+result://" + unknown + " deny"
		checkTold(t, j, log, "call gh/list allow all ok", "deliver gh/list allow all ok", "deliver gh/list allow all ok", lost, lost)
		var through []string
		for _, r := range log.all() {
			if r.Kind == audit.KindDeliver || r.Kind == audit.KindRead {
				through = append(through, r.Target.Through)
			}
			if r.Kind == audit.KindList || r.Kind == audit.KindDeliver && (r.Target.View != "v" || r.Target.Definition == "") {
				t.Errorf("%s: got %+v", name, r)
			}
		}
		if !slices.Equal(through, []string{"read_result", "", "read_result", ""}) {
			t.Errorf("%s: got %q", name, through)
		}
	}
}

// TestReadPolicies: policies that change after a call hold for what is kept of its result: where they hide the tool, the
// result is gone, and where they withhold what the tool returns, so is the rest of it.
func TestReadPolicies(t *testing.T) {
	t.Parallel()
	servers := talkative()
	servers.stubs["gh"].answers["tools/call"] = textOf(strings.Repeat("canary is here\n", 2000))
	g := gated(t, allowAll)
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Gate: g, Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500}}}),
	})
	require.NoError(t, err)
	defer p.Close()
	obey := func(policy string) {
		g.Replace(gate.Config{Set: policies(t, allowAll+policy)})
		p.Repolicy()
	}
	for name, begin := range waysTo(t, p) {
		obey(``)
		w := talking{t, begin(), name}
		id := readOn.FindStringSubmatch(parsed(t, w.ask("tools/call", `{"name":"gh__list","arguments":{"x":1}}`)).Result.Content[2].Text)[5]
		for _, c := range []struct{ policy, says string }{
			{``, "canary"},
			{`@id("no") forbid (principal, action, resource == Tool::"gh/list");`, "the result is gone"},
			{`@id("no") forbid (principal, action == Action::"call", resource == Tool::"gh/list");`, "the result is gone"},
			{`@id("no") forbid (principal, action == Action::"deliver", resource == Tool::"gh/list") when {context.front != "none"};`, "denied"},
			{`@id("no") forbid (principal, action, resource == Tool::"gh/small");`, "canary"},
			{`@id("no") forbid (principal, action == Action::"call", resource == Tool::"gh/list") when {context.args has x && context.args.x == 1};`, "denied"},
			{`@id("no") forbid (principal, action == Action::"call", resource == Tool::"gh/list") when {context.args has x && context.args.x == 2};`, "canary"},
			{`@id("no") forbid (principal, action == Action::"call", resource == Tool::"gh/list") when {context.args has id};`, "canary"},
		} {
			obey(c.policy)
			for method, params := range map[string]string{"tools/call": `{"name":"read_result","arguments":{"id":"` + id + `"}}`, "resources/read": `{"uri":"mcpctl+result://` + id + `"}`} {
				if got := w.ask(method, params); !strings.Contains(got, c.says) || strings.Contains(got, "canary") != (c.says == "canary") {
					t.Errorf("%s: %s, %s: got %.300s", name, method, c.policy, got[:min(len(got), 200)])
				}
			}
		}
		w.end()
	}
}

// TestShapedLast: hooks and the audit log have the result of the server, and the client what is
// left of it.
func TestShapedLast(t *testing.T) {
	t.Parallel()
	servers := talkative()
	j, log := journaled(t, recording.Options{})
	var seen string
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Journal: j, Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500, Fields: []string{"items.id"}}}}),
	})
	require.NoError(t, err)
	require.NoError(t, p.SetHooks(hookNamed("h", spy{response: func(c *proxy.HookCall) error { seen = string(c.Result); return nil }})))
	c := attach(t, p)
	c.result("initialize", greeting)
	got := c.result("tools/call", `{"name":"gh__list"}`)
	if !strings.Contains(got, `{\"id\":9007199254740993}`) || strings.Contains(got, "login") || !strings.Contains(seen, "u199") || !strings.Contains(seen, "structuredContent") {
		t.Errorf("got %s, the hook %.200s", got, seen)
	}
	id := cutOut(got, "read_result id=", " ")
	if read := c.result("resources/read", `{"uri":"mcpctl+result://`+id+`"}`); strings.Contains(read, "login") || !strings.Contains(read, "9007199254740993") {
		t.Errorf("got %.300s", read)
	}
	c.end()
	_ = p.Close()
	closeJournal(t, j)
	whole := int64(len(servers.stubs["gh"].answers["tools/call"]))
	if !slices.ContainsFunc(log.all(), func(r audit.Record) bool { return r.Outcome.ResultSize == whole }) {
		t.Errorf("no record has the size of the server's result, %d: %+v", whole, log.all())
	}
}

// TestPagedTask: what a task has come to is shaped as the result of a call.
func TestPagedTask(t *testing.T) {
	eachTaskServer(t, func(t *testing.T, version, support string) {
		s := &runtimetest.Server{Versions: []string{version}}
		tasks := s.OfferTasks(runtimetest.TaskOptions{TTL: time.Hour, Poll: 10 * time.Second}, runtimetest.TaskTool{
			Definition: json.RawMessage(`{"name":"work","inputSchema":{"type":"object"}}`), Support: support,
			Run: func(ctx context.Context, _ *runtimetest.Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
				}
				return json.RawMessage(textOf(issues(200))), nil
			},
		})
		defer tasks.Close()
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"x": s}, proxy.Options{Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 300, Fields: []string{"items.number"}}}})})
		c := attach(t, p)
		defer func() { c.end(); _ = p.Close() }()
		c.result("tools/list", modern(takesTasks, ``))
		created := c.result("tools/call", modern(takesTasks, `,"name":"x__work","arguments":{}`))
		id := member(t, created, "taskId")
		time.Sleep(2 * time.Minute)
		got := c.result("tasks/get", modern(takesTasks, `,"taskId":"`+id+`"`))
		if member(t, got, "status") != "completed" || !strings.Contains(got, `{\"items\":[{\"number\":0},`) || !strings.Contains(got, "of 200 items") {
			t.Fatalf("got %s, created %s", got, created)
		}
		stored := cutOut(got, "read_result id=", " ")
		if page := c.result("tools/call", modern(takesTasks, `,"name":"read_result","arguments":{"id":"`+stored+`","match":"199"}`)); !strings.Contains(page, `[{\"number\":199}]`) {
			t.Errorf("got %s", page)
		}
		if again := c.result("tasks/get", modern(takesTasks, `,"taskId":"`+id+`"`)); cutOut(again, "read_result id=", " ") != stored {
			t.Errorf("another copy is kept: got %s after %s", again, got)
		}
	})
}

// TestPagedForOlder: clients of revisions without links get the line alone.
func TestPagedForOlder(t *testing.T) {
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: talkative().dial, Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500}}})})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	got := c.result("tools/call", `{"name":"gh__list"}`)
	a := parsed(t, `{"result":`+got+`}`)
	if len(a.Result.Content) != 2 || !readOn.MatchString(a.Result.Content[1].Text) || strings.Contains(got, "resource_link") || strings.Contains(got, "structuredContent") {
		t.Errorf("got %s", got)
	}
}

// TestViewHasResources: a client of a view is told of resources, which are the proxy's own, even if no server has any. It is
// so in both eras, whether the view pages or not. Without a view, server/discover has none.
func TestViewHasResources(t *testing.T) {
	t.Parallel()
	for _, view := range []string{"", "pages", "plain"} {
		p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh"), Dial: talkative().dial, Views: viewsOf(t, view, map[string]views.Config{
			"pages": {Results: &views.Result{MaxTokens: 500}}, "plain": {},
		})})
		require.NoError(t, err)
		c := attach(t, p)
		if hello := c.result("initialize", greeting); !strings.Contains(hello, `"resources":{`) {
			t.Errorf("view %q: got %s", view, hello)
		}
		c.end()
		c = attach(t, p)
		c.result("tools/list", modern(`{}`, ``)) // the server is known
		if got := c.result("server/discover", modern(`{}`, ``)); strings.Contains(got, `"resources":{`) != (view != "") {
			t.Errorf("view %q: got %s", view, got)
		}
		c.end()
		_ = p.Close()
	}
}

// TestReadResultCounts: read_result is in what the list of a view that pages costs, and in what an automatic list compares.
func TestReadResultCounts(t *testing.T) {
	t.Parallel()
	fs := []string{"fs__*"}
	p, err := proxy.New(proxy.Options{Servers: proxy.Named("gh", "fs"), Dial: talkative().dial, Views: viewsOf(t, "auto", map[string]views.Config{
		"plain": {Tools: fs}, "auto": {Tools: fs, List: views.ListAuto, Budget: 80, Results: &views.Result{MaxTokens: 500}},
	})})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	c.result("initialize", greeting)
	if got, want := listedNames(t, c.result("tools/list", `{}`)), "search_tools call_tool call_read_tool read_result"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	lists := p.Status().Lists
	i, j := slices.IndexFunc(lists, func(l proxy.ListStatus) bool { return l.View == "auto" }), slices.IndexFunc(lists, func(l proxy.ListStatus) bool { return l.View == "plain" })
	read := tokens.Estimate(proxy.ReadTool(false))
	if lists[i].All != lists[j].All+read || lists[i].Search != lists[j].Search+read || lists[i].Chosen != views.ListSearch || lists[j].All > 80 {
		t.Errorf("got %+v; read_result costs %d", lists, read)
	}
}

// TestReadAgreed: who has agreed to a call is not asked again to read on in its result, and it counts for no limit.
func TestReadAgreed(t *testing.T) {
	t.Parallel()
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: talkative().dial, Views: viewsOf(t, "v", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 500}}}),
		Gate: gated(t, allowAll+`@id("asks") @ask("May it?") forbid (principal, action, resource == Tool::"gh/list");
@id("once") @over("1/h") forbid (principal, action == Action::"call", resource == Tool::"gh/list");`),
	})
	require.NoError(t, err)
	defer p.Close()
	c := attach(t, p)
	defer c.end()
	var asked atomic.Int32
	c.answer = func(message) string {
		asked.Add(1)
		return `{"action":"accept","content":{"allow":true}}`
	}
	c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+canElicit+`,"clientInfo":{"name":"c","version":"1"}}`)
	first := c.call("tools/call", `{"name":"gh__list"}`)
	id := cutOut(first, "read_result id=", " ")
	if id == "" {
		t.Fatalf("got %.500s", first)
	}
	for range 2 {
		if got := c.call("tools/call", `{"name":"read_result","arguments":{"id":"`+id+`"}}`); !strings.Contains(got, "of 200 items") {
			t.Errorf("got %.300s", got)
		}
		if got := c.call("resources/read", `{"uri":"mcpctl+result://`+id+`"}`); !strings.Contains(got, "u199") {
			t.Errorf("got %.300s", got)
		}
	}
	if again := c.call("tools/call", `{"name":"gh__list"}`); asked.Load() > 1 || strings.Contains(again, "u0") {
		t.Errorf("asked %d times; got %.300s", asked.Load(), again)
	}
}
