package budget_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/budget"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/test/require"
)

func list(server string, texts ...string) find.List {
	l := find.List{Server: server}
	for _, t := range texts {
		l.Items = append(l.Items, json.RawMessage(t))
	}
	return l
}

func printed(t *testing.T, r budget.Report, every bool) string {
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
	r := budget.Of(lists, 1000, false)
	if !r.Over() || len(r.Servers[0].Largest) != 3 {
		t.Errorf("got %+v", r)
	}
	if got, want := printed(t, r, false), `SERVER  TOOLS  TOKENS  SHARE  LARGEST
large   4      4,220   100%   c 4,208
small   1      5       0%     a 5
≈ 4,225 tokens as a list of 5 tools (allowed: 1,000)
`; got != want {
		t.Errorf("got %s", got)
	}
	every := budget.Of(lists, 4225, true)
	if got, want := printed(t, every, true), `SERVER  TOOL  TOKENS  SHARE
large   c     4,208   100%
large   b     5       0%
large   d     5       0%
large         2       0%
small   a     5       0%
≈ 4,225 tokens as a list of 5 tools (allowed: 4,225)
`; got != want || every.Over() {
		t.Errorf("got %s", got)
	}
	none := budget.Of([]find.List{list("none")}, 5, false)
	if out, err := json.Marshal(none); err != nil || string(out) != `{"budget":5,"list":{"all":0},"servers":[{"name":"none","tools":0,"tokens":0,"largest":[]}]}` {
		t.Errorf("got %s, %v", out, err)
	}
	if got := printed(t, none, false); none.Over() || !strings.HasSuffix(got, "≈ 0 tokens as a list of 0 tools (allowed: 5)\n") {
		t.Errorf("got %s", got)
	}
}
