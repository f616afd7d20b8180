package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

func list(server string, texts ...string) find.List {
	l := find.List{Server: server}
	for _, t := range texts {
		l.Items = append(l.Items, json.RawMessage(t))
	}
	return l
}

func printed(t *testing.T, r cli.Report, every bool) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.Print(&ui.UI{Out: &out, Text: true}, every))
	return out.String()
}

func TestReport(t *testing.T) {
	lists := []find.List{
		list("small", `{"name":"a"}`),
		list("large", `{"name":"b"}`, `{"name":"c","description":"`+strings.Repeat("many words ", 2000)+`"}`, `7`, `{"name":"d"}`),
	}
	r := cli.Of(lists, 1000, false)
	if !r.Over() || len(r.Servers[0].Largest) != 3 {
		t.Errorf("got %+v", r)
	}
	if got, want := printed(t, r, false), `SERVER  TOOLS  TOKENS  SHARE  LARGEST
large   4      4,220   100%   c 4,208
small   1      5       0%     a 5
≈ 4,225 tokens as a list of 5 tools, 0 as search (allowed: 1,000)
`; got != want {
		t.Errorf("got %s", got)
	}
	every := cli.Of(lists, 4225, true)
	if got, want := printed(t, every, true), `SERVER  TOOL  TOKENS  SHARE
large   c     4,208   100%
large   b     5       0%
large   d     5       0%
large         2       0%
small   a     5       0%
≈ 4,225 tokens as a list of 5 tools, 0 as search (allowed: 4,225)
`; got != want || every.Over() {
		t.Errorf("got %s", got)
	}
	none := cli.Of([]find.List{list("none")}, 5, false)
	if out, err := json.Marshal(none); err != nil || string(out) != `{"budget":5,"list":{"all":0,"search":0,"chosen":""},"servers":[{"name":"none","tools":0,"tokens":0,"largest":[]}]}` {
		t.Errorf("got %s, %v", out, err)
	}
	if got := printed(t, none, false); none.Over() || !strings.HasSuffix(got, "≈ 0 tokens as a list of 0 tools, 0 as search (allowed: 5)\n") {
		t.Errorf("got %s", got)
	}
}

// TestView: a report is of what a view shows, as it shows it, in the form that it takes.
func TestView(t *testing.T) {
	lists := []find.List{
		list("gh", `{"name":"make","annotations":{"readOnlyHint":false}}`, `{"name":"look","description":"`+strings.Repeat("many words ", 2000)+`","annotations":{"readOnlyHint":true}}`),
		list("fs", `{"name":"read","annotations":{"readOnlyHint":true}}`),
	}
	s := settings.Serve{Separator: "__", Prefix: true, Budget: 10_000}
	all := find.Of(s, []string{"gh", "fs"}, lists)
	set, err := views.New(map[string]views.Config{
		"short":  {Tools: []string{"*", "!gh__look"}, Budget: 3},
		"reads":  {Only: views.ReadOnly, List: views.ListAuto, Budget: 1000},
		"pinned": {List: views.ListSearch, Pin: []string{"gh__look"}, Budget: 1000},
		"edited": {Override: map[string]views.Override{"gh__look": {Description: "Short."}}},
		"paged":  {Tools: []string{"fs__*"}, List: views.ListAuto, Budget: 100, Results: &views.Result{MaxTokens: 500}},
	}, "")
	require.NoError(t, err)
	for _, tc := range []struct {
		view   string
		tools  int
		chosen views.Form
		over   bool
	}{
		{"short", 2, views.ListAll, true},
		{"reads", 1, views.ListSearch, false}, // the list is too long, so it is searched
		{"pinned", 3, views.ListSearch, true}, // what is pinned costs in each form
		{"edited", 3, views.ListAll, false},
		{"paged", 1, views.ListSearch, true}, // read_result counts
	} {
		v := set.View(tc.view)
		shown, pinned := cli.In(v, all, func(server string) bool { return server == "gh" })
		r := cli.Of(shown, 0, false)
		r.Choose(s, v, shown)
		r.List.Search += pinned
		n, cost := 0, 0
		for _, one := range r.Servers {
			n, cost = n+one.Tools, cost+one.Tokens
		}
		if v.Pages() {
			cost += tokens.Estimate(proxy.ReadTool(false))
		}
		if r.List.All != cost || v.Pages() && r.List.Search < tokens.Estimate(proxy.ReadTool(false))+tokens.Estimate(proxy.SearchTools(false, nil)) {
			t.Errorf("%s: got %+v, want %d", tc.view, r, cost)
		}
		if n != tc.tools || r.List.Chosen != tc.chosen || r.Over() != tc.over || r.List.Search == 0 || r.View != tc.view {
			t.Errorf("%s: got %+v", tc.view, r)
		}
		if got := printed(t, r, false); !strings.Contains(got, "view "+tc.view+": ≈ ") {
			t.Errorf("got %s", got)
		}
	}
}
