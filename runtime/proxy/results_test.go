package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/views"
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
			"tools/call": strings.TrimSuffix(textOf(issues(400)), "}") + `,"structuredContent":` + issues(400) + `,"_meta":{"x/y":9007199254740993}}`,
		}},
		"fs": &stub{version: "2025-11-25", capabilities: `{"tools":{}}`, answers: map[string]string{
			"tools/list": `{"tools":[{"name":"trace","inputSchema":{"type":"object"}}]}`, "tools/call": failing,
		}},
	}}
}

// reach is how a client reaches a proxy, in one of the eras.
type reach struct {
	name string
	ask  func(method, params string) string
}

// reaches returns all ways to a view of a proxy.
func reaches(t *testing.T, p *proxy.Proxy, view string) []reach {
	t.Helper()
	c := attach(t, p)
	t.Cleanup(func() { c.end() })
	c.result("initialize", greeting)
	front := p.NewHTTPFront(proxy.HTTPOptions{Path: "/mcp"})
	t.Cleanup(func() { front.Close() })
	s := serveHTTP(t, front)
	t.Cleanup(s.close)
	w := &july{t: t, p: p, front: front, url: s.url + "/mcp/" + view, hc: s.client()}
	post := func(body string, head http.Header) string {
		resp := w.open(t.Context(), body, head)
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(out)
	}
	return []reach{
		{"stdio", func(method, params string) string { return <-c.begin(`"x"`, method, params) }},
		{"stdio, stateless", func(method, params string) string { return c.july(`"x"`, method, params, `{}`) }},
		{"http", func(method, params string) string {
			return post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}})
		}},
		{"http, stateless", func(method, params string) string {
			body, head := request(`"x"`, method, params, `{}`, "")
			return post(body, head)
		}},
	}
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

var readOn = regexp.MustCompile(`^showing ([0-9,]+) of ([0-9,]+) (\w+) \(\d+ %\)(?: from \d+)?(?:; (\w+) id=(\w+) from=(\d+))?`)

// TestPaged: a long result is a page, a link and a line, in both eras and over each transport;
// what is read on joins to the whole, and so does the resource.
func TestPaged(t *testing.T) {
	t.Parallel()
	servers := talkative()
	p, err := proxy.New(proxy.Options{
		Servers: proxy.Named("gh", "fs"), Dial: servers.dial, Info: runtime.Implementation{Name: "mcpctl"}, View: "v",
		Views: viewsOf(t, "", map[string]views.Config{"v": {Results: &views.Result{MaxTokens: 1000}}, "w": {Results: &views.Result{MaxTokens: 1000}}}),
	})
	require.NoError(t, err)
	defer p.Close()
	for _, w := range reaches(t, p, "v") {
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
		if on == nil || on[2] != "400" || on[3] != "items" || on[4] != "read_result" || on[1] != on[6] || link.Type != "resource_link" || link.URI != "mcpctl+result://"+on[5] || link.MimeType != "application/json" || link.Size != len(issues(400)) {
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
		if add(a.Result.Content[0].Text, &whole, &whole.Items); whole.Total != 400 {
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
		require.NoError(t, json.Unmarshal([]byte(issues(400)), &want))
		if got, want := fmt.Sprintf("%s", all), fmt.Sprintf("%s", want.Items); got != want {
			t.Errorf("%s: pages joined are %s", w.name, got)
		}
		read := w.ask("resources/read", `{"uri":"`+link.URI+`"}`)
		if c := parsed(t, read).Result.Contents; len(c) != 1 || c[0].Text != issues(400) || c[0].URI != link.URI || c[0].MimeType != "application/json" {
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
			`{"id":"` + link.URI + `","from":9000}`: "showing 0 of 400 items (0 %) from 400",
			`{"id":"` + link.URI + `","match":"\"u39?9\"","fields":["items[].user.login"]}`: `[{\"user\":{\"login\":\"u39\"}},{\"user\":{\"login\":\"u399\"}}]`,
		} {
			got := w.ask("tools/call", `{"name":"read_result","arguments":`+arguments+`}`)
			if !strings.Contains(got, want) || strings.Contains(want, "showing") == strings.Contains(got, `"isError":true`) && !strings.Contains(want, "u39") {
				t.Errorf("%s: %s: got %s", w.name, arguments, got)
			}
		}
		if got := w.ask("resources/read", `{"uri":"mcpctl+result://none"}`); !strings.Contains(got, "the result is gone: call its tool again") || !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s", w.name, got)
		}
	}
}
