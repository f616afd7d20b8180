package schema_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/policy/schema"
	"github.com/mcpctl/mcpctl/test/require"
)

var update = flag.Bool("update", false, "write the golden files")

// tools are what policies can be about.
var tools = []policy.Item{
	tool("pay/send", `{"properties":{"amount":{"type":"number"},"to":{"type":"string"},"n":{"type":"integer"},"urgent":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},"who":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"any":{}},"required":["amount","who"]}`),
	tool("fs/read", `{"properties":{"path":{"type":"string"},"n":{"type":"string"},"in-dir":{"type":"string"}},"required":["path"]}`),
	tool("fs/list", `{"properties":{"path":{"type":["string","null"]}}}`),
	{Kind: policy.Tool, Server: "fs", Name: "unknown"}, // nothing is known of its arguments
}

func tool(id, inputSchema string) policy.Item {
	server, name, _ := strings.Cut(id, "/")
	return policy.Item{Kind: policy.Tool, Server: server, Name: name, Definition: []byte(`{"name":"` + name + `","inputSchema":` + inputSchema + `}`)}
}

// TestCheck: testdata/check.txt has what is said of policies about some tools.
func TestCheck(t *testing.T) {
	var got strings.Builder
	for _, tt := range []struct{ about, when string }{
		{"pay/send", `context.args.amount.lessThan(decimal("5.0"))`},
		{"pay/send", `context.args.amount < 5`},
		{"pay/send", `context.args has n && context.args.n < 5`},
		{"pay/send", `context.args.n < 5`},
		{"pay/send", `context.args has n && context.args.n == "5"`},
		{"pay/send", `context.args has amonut && context.args.amonut.lessThan(decimal("5.0"))`},
		{"pay/send", `context.args has zzz`},
		{"pay/send", `context.args has urgent && context.args.urgent`},
		{"pay/send", `context.args has tags && context.args.tags.contains("x")`},
		{"pay/send", `context.args has tags && context.args.tags.contains(1)`},
		{"pay/send", `context.args.who.name == "x"`},
		{"pay/send", `context.args.who.nam == "x"`},
		{"pay/send", `context.args has any && context.args.any == "x"`},
		{"pay/send", `context.args has any && context.args.any == 1`},
		{"pay/send", `context.args has any && context.args.any.x == 1`},
		{"pay/send", `context.host has amount && context.host.amount == "x"`},
		{"pay/send", `context.host has to && context.host.to like "*.example.com"`},
		{"fs/read fs/list", `context.clean has path && context.clean.path like "/etc/*"`},
		{"fs/read fs/list", `context.clean.path like "/etc/*"`},
		{"fs/read fs/list", `context.args.path like "/etc/*"`},
		{"fs/read", `context.args.path like "/etc/*"`},
		{"fs/read", `context.args has "in-dir" && context.args["in-dir"] == "x"`},
		{"pay/send fs/read", `context.args has n && context.args.n == 5`},
		{"fs/unknown", `context.args has whatever`},
		{"", `resource.readOnly`},
		{"", `resource.readonly`},
		{"", `principal.name == "x" && principal.hasTag("team") && principal.getTag("team").contains("x")`},
		{"", `principal.email == "x"`},
		{"", `context.ip.isLoopback()`},
		{"", `context has ip && context.ip.isLoopback()`},
		{"", `context.seen.containsAll(["private"]) && context.now > datetime("2027-01-31")`},
		{"", `context.seen`},
		{"", `principal in Group::"a" && resource in Label::"b"`},
	} {
		text := `@id("x") forbid (principal, action == Action::"call", resource) when { ` + tt.when + ` };`
		all, err := schema.Parse(policy.Source{Name: "x.cedar", Text: []byte(text)})
		require.NoError(t, err)
		var about []policy.Item
		for _, it := range tools {
			if strings.Contains(" "+tt.about+" ", " "+it.Server+"/"+it.Name+" ") {
				about = append(about, it)
			}
		}
		fmt.Fprintf(&got, "%s: %s\n", tt.about, tt.when)
		for _, f := range all[0].Check(about) {
			fmt.Fprintf(&got, "  %s\n", f.Text)
			if f.Remedy != "" {
				fmt.Fprintf(&got, "    %s\n", f.Remedy)
			}
		}
		got.WriteByte('\n')
	}
	const path = "testdata/check.txt"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); diff != "" {
		t.Errorf("%s is not current (-update writes it; -want +got):\n%s", path, diff)
	}
}

// TestParse: what a policy names, looks for and reads.
func TestParse(t *testing.T) {
	all, err := schema.Parse(policy.Source{Name: "x.cedar", Text: []byte(`
@id("a") permit (principal in Group::"eng", action in [Action::"call", Action::"get"], resource == Tool::"gh/x")
when { context.seen.containsAll(["private", "web"]) && resource in [Server::"a", Label::"b"] && context.args has x.y };
@id("b") forbid (principal, action, resource is Tool in Server::"c") unless { context.found.contains("secret") || principal == User::"u" };
@id("c") permit (principal, action, resource);`)})
	require.NoError(t, err)
	var got strings.Builder
	for _, p := range all {
		fmt.Fprintln(&got, p.ID, p.Permit, p.Names, p.Labels, p.Actions, p.Always, p.Reads(), p.Principal != "")
	}
	want := `a true [{Group eng} {Tool gh/x} {Server a} {Label b}] [private web] [call get] false true true
b false [{Server c} {User u}] [secret] [] false false false
c true [] [] [] true false false
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
