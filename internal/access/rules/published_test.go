package rules_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPublished: the examples that ToolHive (docs/authz.md) and agentgateway (its pages about
// MCP authorization and the notes to 1.0) have published, translated, decide as is said there.
func TestPublished(t *testing.T) {
	user := func(sub string, groups ...string) *access.Principal {
		return &access.Principal{ID: "https://idp.example|" + sub, Provider: "jwt", Name: sub, Groups: groups}
	}
	tagged := func(name, value string) *access.Principal {
		p := user("tagged")
		p.Tags = map[string][]string{name: {value}}
		return p
	}
	scoped := func(scope string) *access.Principal {
		p := user("scoped")
		p.Scopes = []string{scope}
		return p
	}
	tool := func(name string) policy.Item { return policy.Item{Kind: policy.Tool, Server: "srv", Name: name} }
	other := policy.Item{Kind: policy.Tool, Server: "s2", Name: "echo"}
	prompt := func(name string) policy.Item { return policy.Item{Kind: policy.Prompt, Server: "srv", Name: name} }
	resource := func(uri string) policy.Item { return policy.Item{Kind: policy.Resource, Server: "srv", Name: uri} }
	anyone := user("anyone")
	type request struct {
		who  *access.Principal
		item policy.Item
		args string
		want bool
	}
	for _, tt := range []struct {
		name, rules, cedar string
		requests           []request
	}{
		{"ToolHive: one tool, one prompt, one resource", `rules: [{allow: "*", to: [srv/weather, "prompt:srv/greeting", "resource:srv/data://x"]}]`, "", []request{
			{anyone, tool("weather"), "", true},
			{anyone, prompt("greeting"), "", true},
			{anyone, resource("data://x"), "", true},
			{anyone, tool("calculator"), "", false},
			{anyone, prompt("weather"), "", false},
			{anyone, resource("data://y"), "", false},
		}},
		{"ToolHive: one client, every tool", `rules: [{allow: "https://idp.example|user123", to: "tool:srv/**"}]`, "", []request{
			{user("user123"), tool("weather"), "", true},
			{user("user123"), tool("calculator"), "", true},
			{user("user1234"), tool("weather"), "", false},
			{user("user123"), prompt("greeting"), "", false},
		}},
		{"ToolHive: a role of the token", `rules: [{allow: "idp:admin", to: "tool:srv/**"}]`, "", []request{
			{user("a", "idp:admin"), tool("weather"), "", true}, {user("a", "idp:user"), tool("weather"), "", false}, {user("a", "admin"), tool("weather"), "", false},
		}},
		{"ToolHive: two operations of a tool", `rules: [{allow: "*", to: srv/calculator, when: {args.operation: {in: [add, subtract]}}}]`, "", []request{
			{anyone, tool("calculator"), `{"operation":"add"}`, true},
			{anyone, tool("calculator"), `{"operation":"subtract"}`, true},
			{anyone, tool("calculator"), `{"operation":"divide"}`, false},
			{anyone, tool("calculator"), `{}`, false},
			{anyone, tool("weather"), `{"operation":"add"}`, false},
		}},
		{"ToolHive: the name in the token", "", `@id("john") permit (principal, action == Action::"call", resource == Tool::"srv/weather") when { principal.name == "John Doe" };`, []request{
			{user("John Doe"), tool("weather"), "", true}, {user("Jane Doe"), tool("weather"), "", false}, {user("John Doe"), tool("calculator"), "", false},
		}},
		{"ToolHive: two places", `rules: [{allow: "*", to: srv/weather, when: {args.location: {in: [New York, London]}}}]`, "", []request{
			{anyone, tool("weather"), `{"location":"London"}`, true},
			{anyone, tool("weather"), `{"location":"New York"}`, true},
			{anyone, tool("weather"), `{"location":"Paris"}`, false},
			{anyone, tool("weather"), `{"location":"Paris","location":"London"}`, false}, // which one the server takes is not known
		}},
		{"ToolHive: a role, and a level up to the own one", `rules: [
			{allow: "idp:analyst-2", to: srv/sensitive_data, when: {args.data_level: {le: 2}}}, {allow: "idp:analyst-3", to: srv/sensitive_data, when: {args.data_level: {le: 3}}}]`, "", []request{
			{user("a", "idp:analyst-2"), tool("sensitive_data"), `{"data_level":2}`, true},
			{user("a", "idp:analyst-2"), tool("sensitive_data"), `{"data_level":3}`, false},
			{user("a", "idp:analyst-3"), tool("sensitive_data"), `{"data_level":3}`, true},
			{anyone, tool("sensitive_data"), `{"data_level":1}`, false},
		}},
		{"ToolHive: the owner of a tool", `{groups: {owner: ["https://idp.example|user123"]}, rules: [{allow: owner, to: srv/weather}]}`, "", []request{
			{user("user123"), tool("weather"), "", true}, {user("user456"), tool("weather"), "", false}, {user("user123"), tool("calculator"), "", false},
		}},
		{"ToolHive: forbid wins, and without a permit all is denied", `rules: [{allow: "*", to: srv}, {deny: "*", to: srv/delete}]`, "", []request{
			{anyone, tool("weather"), "", true}, {anyone, tool("delete"), "", false}, {anyone, other, "", false},
		}},
		{
			"agentgateway: a tool for all, one for a user, one by a claim", `rules: [{allow: "*", to: srv/echo}, {allow: "https://idp.example|test-user", to: srv/add}]`,
			`@id("claim") permit (principal, action == Action::"call", resource == Tool::"srv/printEnv") when { principal.hasTag("nested.key") && principal.getTag("nested.key").contains("value") };`,
			[]request{
				{anyone, tool("echo"), "", true},
				{anyone, tool("add"), "", false},
				{user("test-user"), tool("add"), "", true},
				{anyone, tool("printEnv"), "", false},
				{tagged("nested.key", "value"), tool("printEnv"), "", true},
				{tagged("nested.key", "other"), tool("printEnv"), "", false},
				{user("test-user"), tool("other"), "", false},
			},
		},
		{"agentgateway: deny alone denies that alone", `{default: allow, rules: [{deny: "*", to: srv/echo}]}`, "", []request{
			{anyone, tool("echo"), "", false}, {anyone, tool("add"), "", true}, {anyone, other, "", true},
		}},
		{"agentgateway: everything but a tool of one target", `rules: [{allow: "*", to: "*"}, {deny: "*", to: s2/echo}]`, "", []request{
			{anyone, other, "", false}, {anyone, tool("echo"), "", true},
		}},
		{"agentgateway: an organisation, and one tool", "", `@id("org") permit (principal, action == Action::"call", resource == Tool::"srv/echo") when { principal.hasTag("org") && principal.getTag("org").contains("solo.io") };`, []request{
			{tagged("org", "solo.io"), tool("echo"), "", true}, {tagged("org", "solo.io"), tool("add"), "", false}, {tagged("org", "example"), tool("echo"), "", false}, {anyone, tool("echo"), "", false},
		}},
		{"agentgateway: a scope", `rules: [{allow: "*", to: srv/list_files, scope: "files:read"}]`, "", []request{
			{scoped("files:read"), tool("list_files"), "", true}, {scoped("files:delete"), tool("list_files"), "", false}, {anyone, tool("list_files"), "", false},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.rules
			if text == "" {
				text = "{}"
			}
			s, err := parse(text)
			require.NoError(t, err)
			c := s.Config(true)
			c.Sources = append(c.Sources, policy.Source{Name: "theirs.cedar", Text: []byte(tt.cedar)})
			set, err := policy.Compile(c)
			require.NoError(t, err)
			w := set.Snapshot([]policy.Server{{Name: "srv"}, {Name: "s2"}}, nil)
			for _, r := range tt.requests {
				visible, cond := w.View(r.who).Unlisted(r.item)
				got := visible && (cond == nil || cond.Decide(&policy.Request{Principal: r.who, Arguments: []byte(r.args)}).Verdict == policy.Allow)
				if got != r.want {
					t.Errorf("%s %s as %s with %s: got %v", actionOf(r.item), r.item.Name, r.who.ID, r.args, got)
				}
			}
		})
	}
}
