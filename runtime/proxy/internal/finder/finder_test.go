package finder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
)

// shelf is a stock with definitions by exposed name.
type shelf struct {
	tools    []finder.Tool
	of       map[string]string
	unlisted []string
}

func (s *shelf) stock() finder.Stock {
	return finder.Stock{Index: finder.NewIndex(s.tools), Unlisted: s.unlisted, Definition: func(name string) []byte { return []byte(s.of[name]) }}
}

// stocked returns a stock and an engine that has more than that.
func stocked(t *testing.T, hidden ...string) (*shelf, *search.Engine) {
	t.Helper()
	e := &search.Engine{Vocabulary: search.Default()}
	s := &shelf{of: map[string]string{}}
	for _, server := range []struct {
		name        string
		definitions []string
	}{
		{"github", []string{
			`{"name":"create_issue","description":"Opens a new issue.\nIn a repository.","inputSchema":{"type":"object","required":["owner"],"properties":{"owner":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}}}}`,
			`{"name":"list_issues","description":"Lists issues","inputSchema":{"type":"object"}}`,
			`{"name":"merge_pull_request","title":"Merge a pull request","inputSchema":{"type":"object","properties":{"merge_method":{"enum":["merge","squash","rebase"]}}}}`,
		}},
		{"maps", []string{`{"name":"route","description":"地图服务","inputSchema":{"type":"object"}}`}},
		{"fs", []string{`{"name":"readFile","description":"Reads a file and what issues it has","inputSchema":{"type":"object"}}`}},
	} {
		var docs []search.Doc
		for _, definition := range server.definitions {
			d, ok := search.OfTool(server.name, json.RawMessage(definition))
			if !ok {
				t.Fatal(definition)
			}
			docs = append(docs, d)
			if name := server.name + "__" + d.Name; !slices.Contains(hidden, name) {
				s.tools = append(s.tools, finder.Tool{Server: server.name, Bare: d.Name, Name: name})
				s.of[name] = definition
			}
		}
		e.Build(server.name, docs)
	}
	e.Wait(t.Context())
	return s, e
}

func answer(t *testing.T, s *shelf, e finder.Searcher, arguments string) (string, []string) {
	t.Helper()
	q, err := finder.ParseQuery([]byte(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return finder.NewOwn("").Answer(t.Context(), e, s.stock(), q)
}

func TestAnswer(t *testing.T) {
	s, e := stocked(t)
	for _, tc := range []struct {
		arguments string
		names     string // that come first
		text      []string
	}{
		{`{"queries":["open a ticket"],"limit":1}`, "github__create_issue", []string{"github__create_issue(owner:string, labels?:string[])  Opens a new issue.\n", `queries=[""] server=github for all 3 of it`}},
		{`{"queries":["issues"],"limit":1}`, "github__list_issues", []string{" more of github; 1 of fs. Not it?"}},
		{`{"queries":["squash"]}`, "github__merge_pull_request", []string{`github__merge_pull_request(merge_method?:"merge"|"squash"|"rebase")  Merge a pull request`}},
		// Exact names: exposed, the server's own, other separators, several, in a sentence, beyond the limit.
		{`{"queries":["github__list_issues"],"limit":1}`, "github__list_issues", nil},
		{`{"queries":["list_issues"],"limit":1}`, "github__list_issues", nil},
		{`{"queries":["github.list-issues"],"limit":1}`, "github__list_issues", nil},
		{`{"queries":["githubListIssues"],"limit":1}`, "github__list_issues", nil},
		{`{"queries":["read_file"],"limit":1}`, "fs__readFile", nil},
		{`{"queries":["then call fs__readFile, or github__create_issue"],"limit":1}`, "github__create_issue fs__readFile", nil},
		{`{"queries":["fs__readFile","github__create_issue","merge_pull_request"],"limit":1}`, "github__create_issue fs__readFile github__merge_pull_request", nil},
		{`{"queries":["服务"]}`, "maps__route", []string{"maps__route()  地图服务"}},
		{`{"queries":"squash"}`, "github__merge_pull_request", nil},
		{`{"queries":["squash"],"detail":"schema"}`, "github__merge_pull_request", []string{`{"name":"merge_pull_request","title":`}},
		{`{"queries":["squash"],"detail":"line"}`, "github__merge_pull_request", []string{"github__merge_pull_request  Merge a pull request\n"}},
		// A server as a whole, and a server only.
		{`{"queries":[""],"server":"github"}`, "github__create_issue github__list_issues github__merge_pull_request", []string{"github__create_issue  Opens a new issue.\n"}},
		{`{"server":"github","limit":2}`, "github__create_issue github__list_issues", []string{"1 more."}},
		{`{"queries":["issues"],"server":"fs"}`, "fs__readFile", nil},
		// Nothing is found.
		{`{"queries":["squash"],"server":"fs"}`, "", []string{"No tool of fs matches. Of other servers:\ngithub__merge_pull_request"}},
		{`{"queries":["quux"]}`, "", []string{"No tool matches. Servers here: github (3 tools), maps (1), fs (1)."}},
		{`{"queries":["squash"],"server":"nobody"}`, "", []string{"There is no server of that name with tools. Servers here: github"}},
		{`{"queries":[]}`, "", []string{"Say in queries", "Servers here"}},
		{`{"queries":["\" OR name:* NEAR("]}`, "", []string{"No tool matches"}},
		{`{"queries":["` + strings.Repeat("long ", 400) + `"]}`, "", []string{"No tool matches"}},
	} {
		text, names := answer(t, s, e, tc.arguments)
		if got := strings.Join(names, " "); !strings.HasPrefix(got, tc.names) || tc.names == "" && got != "" {
			t.Errorf("%s: got %q", tc.arguments, got)
		}
		for _, part := range tc.text {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in\n%s", tc.arguments, part, text)
			}
		}
	}
}

// TestAnswerHidden: what is hidden is in no answer and in no count.
func TestAnswerHidden(t *testing.T) {
	s, e := stocked(t, "github__list_issues", "maps__route")
	s.unlisted = []string{"later"}
	for _, arguments := range []string{`{"queries":["issues"]}`, `{"queries":["list_issues","github__list_issues"]}`, `{"queries":["quux"]}`, `{"server":"github"}`, `{"queries":["服务"]}`, `{"queries":["issues"],"limit":1}`} {
		text, _ := answer(t, s, e, arguments)
		for _, secret := range []string{"list_issues", "Lists issues", "maps", "3 tools", "all 3"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %q is in %s", arguments, secret, text)
			}
		}
		if !strings.Contains(text, "later") && !strings.Contains(arguments, "server") {
			t.Errorf("%s: a server of which nothing is known is not named: %s", arguments, text)
		}
	}
	text, names := answer(t, &shelf{}, e, `{"queries":["issues"]}`)
	if text != "No tool matches. There are no tools." || names != nil {
		t.Errorf("got %q", text)
	}
}

func TestParseQuery(t *testing.T) {
	for _, arguments := range []string{`[]`, `{"queries":7}`, `{"queries":[7]}`, `{"queries":["a"],"detail":"all"}`, `{"queries":["a"],"limit":"5"}`} {
		if _, err := finder.ParseQuery([]byte(arguments)); err == nil {
			t.Errorf("%s: taken", arguments)
		}
	}
	q, err := finder.ParseQuery([]byte(`{"queries":["a","b","c","d","e","f","` + strings.Repeat("ä", 500) + `"],"limit":900}`))
	if err != nil || len(q.Texts) != 5 || q.Limit != 50 {
		t.Errorf("got %+v, %v", q, err)
	}
	q, err = finder.ParseQuery([]byte(`{"queries":["` + strings.Repeat("ä", 500) + `"]}`))
	if err != nil || len(q.Texts[0]) != 800 {
		t.Errorf("got %d bytes, %v", len(q.Texts[0]), err)
	}
}

// FuzzAnswer: whatever is asked, there is an answer.
func FuzzAnswer(f *testing.F) {
	for _, q := range []string{`"x" AND`, "NEAR(a b)", "^name:*", "地\x00图", "\xff", "_", strings.Repeat("word ", 90)} {
		f.Add(q, "github")
		f.Add(q, "")
	}
	e := &search.Engine{}
	e.Build("github", []search.Doc{{Group: "github", Name: "list_issues"}})
	s := &shelf{tools: []finder.Tool{{Server: "github", Bare: "list_issues", Name: "github__list_issues"}}}
	f.Fuzz(func(t *testing.T, query, server string) {
		arguments, _ := json.Marshal(map[string]any{"queries": []string{query}, "server": server})
		q, err := finder.ParseQuery(arguments)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := finder.NewOwn("").Answer(context.Background(), e, s.stock(), q); text == "" {
			t.Errorf("%q: no answer", query)
		}
	})
}

func TestDefinitions(t *testing.T) {
	var many []finder.Server
	for i := range 500 {
		many = append(many, finder.Server{Name: fmt.Sprintf("server-number-%d", i), Tools: i + 1})
	}
	for _, servers := range [][]finder.Server{nil, {{Name: "a", Tools: 1}, {Name: "github", Tools: 117}}, many} {
		var all []struct {
			Name, Description string
			InputSchema       json.RawMessage
			Annotations       map[string]bool
		}
		text := append(append([]byte{'['}, finder.NewOwn("x_").Definitions(servers)...), ']')
		if err := json.Unmarshal(text, &all); err != nil || len(all) != 3 || all[0].Name != "x_search_tools" || all[1].Name != "x_call_tool" || all[2].Name != "x_call_read_tool" {
			t.Fatalf("got %s, %v", text, err)
		}
		if n := tokens.Estimate([]byte(all[0].Description)); n > 450 {
			t.Errorf("%d tokens: %s", n, all[0].Description)
		}
		if all[1].Annotations["readOnlyHint"] || !all[2].Annotations["readOnlyHint"] || !all[0].Annotations["readOnlyHint"] {
			t.Errorf("got %+v", all)
		}
		if len(servers) == 2 && !strings.Contains(all[0].Description, "Servers here: github (117 tools), a (1).") {
			t.Errorf("got %s", all[0].Description)
		}
		if len(servers) == 500 && !strings.Contains(all[0].Description, " more.") {
			t.Errorf("got %s", all[0].Description)
		}
	}
}

func TestInner(t *testing.T) {
	for _, arguments := range []string{
		``, `7`, `{}`, `{"name":7}`, `{"name":"a","arguments":"{}"}`, `{"name":"a","arguments":[]}`,
		`{"name":"a","name":"b"}`, `{"name":"a","n\u0061me":"b"}`, `{"name":"a","arguments":{},"arguments":{"n":1}}`, `{"name":"a","fields":[],"fields":["x"]}`,
	} {
		if _, err := finder.ParseInner([]byte(arguments)); err == nil {
			t.Errorf("%s: taken", arguments)
		}
	}
	in, err := finder.ParseInner([]byte(`{"arguments":{"n":9007199254740993},"name":"a__b"}`))
	if err != nil || in.Name != "a__b" || string(in.Quoted) != `"a__b"` || string(in.Arguments) != `{"n":9007199254740993}` {
		t.Errorf("got %+v, %v", in, err)
	}
	if in, err := finder.ParseInner([]byte(`{"name":"a","arguments":null}`)); err != nil || in.Arguments != nil {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestCheck(t *testing.T) {
	const definition = `{"name":"b","inputSchema":{"type":"object","required":["owner"],"properties":{"owner":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}}`
	for arguments, want := range map[string]string{
		`{"owner":"a","n":9007199254740993}`: "",
		`{"owner":7}`:                        "at /arguments/owner: ",
		``:                                   "at /arguments/owner: ",
		`{"owner":"a","ownr":1}`:             "at /arguments/ownr: ",
	} {
		var raw []byte
		if arguments != "" {
			raw = []byte(arguments)
		}
		got := finder.Check("a__b", []byte(definition), raw)
		if want == "" && got != "" || want != "" && (!strings.Contains(got, want) || !strings.HasSuffix(got, "\na__b(owner:string, n?:integer)")) {
			t.Errorf("%s: got %q", arguments, got)
		}
	}
	for _, odd := range []string{`{"name":"b"}`, `{"name":"b","inputSchema":7}`, `{"name":"b","inputSchema":{"type":"objekt"}}`} {
		if got := finder.Check("b", []byte(odd), []byte(`{"a":1}`)); got != "" {
			t.Errorf("%s: got %q", odd, got)
		}
	}
}

func TestNative(t *testing.T) {
	for _, tc := range []struct {
		p     finder.Program
		names []string
		want  bool
	}{
		{finder.Program{Name: "claude-code", Version: "2.1.7"}, nil, true},
		{finder.Program{Name: "claude-code", Version: "2.10"}, nil, true},
		{finder.Program{Name: "claude-code", Version: "2.0.76"}, nil, false},
		{finder.Program{Name: "claude-code"}, nil, true},
		{finder.Program{Name: "codex-mcp-client", Version: "0.1"}, nil, true},
		{finder.Program{Name: "cursor", Version: "9"}, nil, false},
		{finder.Program{Name: "claude-code", Version: "9"}, []string{}, false},
		{finder.Program{Name: "cursor"}, []string{"cursor"}, true},
	} {
		if got := tc.p.Searches(tc.names); got != tc.want {
			t.Errorf("%+v of %v: got %t", tc.p, tc.names, got)
		}
	}
}
