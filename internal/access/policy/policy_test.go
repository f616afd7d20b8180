package policy_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

func compile(t testing.TB, text string) *policy.Set {
	t.Helper()
	s, err := policy.Compile(policy.Config{
		Groups:  map[string][]string{"eng": {"alice@example.com", "idp:engineers", "token|ci"}, "staff": {"eng", "token|bob"}},
		Labels:  map[string][]string{"outbound": {"mail/send*", "gh/create_*"}, "private": {"fs"}, "docs": {"fs/file:///docs/**"}},
		Sources: []policy.Source{{Name: "test.cedar", Text: []byte(text)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const payDefinition = `{"name":"pay","inputSchema":{"type":"object","properties":{"amount":{"type":"integer"},"price":{"type":"number"},"to":{"type":"string"},"path":{"type":"string"},"url":{"type":"string"}}}}`

var testServers = []policy.Server{
	{Name: "gh", Transport: "stdio"},
	{Name: "fs", Transport: "stdio", Labels: []string{"files"}},
	{Name: "mail", Transport: "http", Trusted: true},
}

var testItems = []policy.Item{
	{Kind: policy.Tool, Server: "gh", Name: "get_issue", Definition: []byte(`{"name":"get_issue","annotations":{"readOnlyHint":true}}`)},
	{Kind: policy.Tool, Server: "gh", Name: "create_issue", Definition: []byte(`{"name":"create_issue"}`)},
	{Kind: policy.Tool, Server: "mail", Name: "send", Definition: []byte(`{"name":"send"}`)},
	{Kind: policy.Tool, Server: "mail", Name: "list", Definition: []byte(`{"name":"list","annotations":{"readOnlyHint":true}}`)},
	{Kind: policy.Tool, Server: "gh", Name: "pay", Definition: []byte(payDefinition)},
	{Kind: policy.Prompt, Server: "gh", Name: "review", Definition: []byte(`{"name":"review"}`)},
	{Kind: policy.Resource, Server: "fs", Name: "file:///docs/a/b.md", Definition: []byte(`{"uri":"file:///docs/a/b.md"}`)},
	{Kind: policy.Resource, Server: "fs", Name: "file:///etc/passwd", Definition: []byte(`{"uri":"file:///etc/passwd"}`)},
}

var (
	alice = &access.Principal{ID: "https://idp.example|8f3a", Name: "alice", Email: "alice@example.com", Provider: "jwt", Groups: []string{"idp:people"}, Scopes: []string{"gh.read"}, Tags: map[string][]string{"team": {"blue"}}}
	bob   = &access.Principal{ID: "token|bob", Name: "bob", Provider: "token"}
	eve   = &access.Principal{ID: "token|eve", Name: "eve", Provider: "token", Groups: []string{"local", "token|ci", "alice@example.com"}}
)

// seen returns the names of items that are visible.
func seen(v *policy.View) (names string) {
	for i, it := range testItems {
		if visible, _ := v.Item(i); visible {
			names += " " + it.Server + "/" + it.Name
		}
	}
	return names
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		name, text string
		who        *access.Principal
		want       string
	}{
		{"nothing is permitted", ``, alice, ""},
		{"a server", `@id("a") permit (principal, action, resource in Server::"gh");`, alice, " gh/get_issue gh/create_issue gh/pay gh/review"},
		{"a tool", `@id("a") permit (principal, action, resource == Tool::"gh/pay");`, alice, " gh/pay"},
		{"a label", `@id("a") permit (principal, action, resource in Label::"outbound");`, alice, " gh/create_issue mail/send"},
		{"a label of a server", `@id("a") permit (principal, action, resource in Label::"private");`, alice, " fs/file:///docs/a/b.md fs/file:///etc/passwd"},
		{"a label of an entry", `@id("a") permit (principal, action, resource in Label::"files");`, alice, " fs/file:///docs/a/b.md fs/file:///etc/passwd"},
		{"a label of resources", `@id("a") permit (principal, action, resource in Label::"docs");`, alice, " fs/file:///docs/a/b.md"},
		{"a glob", `@id("a") permit (principal, action, resource in Label::"gh/*e*");`, alice, " gh/get_issue gh/create_issue gh/review"},
		{"a glob of tools", `@id("a") permit (principal, action, resource in Label::"tool:gh/*e*");`, alice, " gh/get_issue gh/create_issue"},
		{"a glob matches no slash", `@id("a") permit (principal, action, resource in Label::"fs/*");`, alice, ""},
		{"annotations count of trusted servers", `@id("a") permit (principal, action == Action::"call", resource) when {resource.readOnly};`, alice, " mail/list"},
		{"a group by mail", `@id("a") permit (principal in Group::"eng", action, resource == Tool::"gh/pay");`, alice, " gh/pay"},
		{"a group in a group", `@id("a") permit (principal in Group::"staff", action, resource == Tool::"gh/pay");`, alice, " gh/pay"},
		{"another is in no group", `@id("a") permit (principal in Group::"eng", action, resource);`, bob, ""},
		{"local is a group", `@id("a") permit (principal in Group::"local", action, resource == Tool::"gh/pay");`, nil, " gh/pay"},
		{"local is no name that one can have", `@id("a") permit (principal in Group::"local", action, resource);`, eve, ""},
		{"nobody is a person by the name of a group", `@id("a") permit (principal, action, resource) when {principal in [Group::"token|ci", Group::"alice@example.com", Group::"eng"]};`, eve, ""},
		{"a forbid", `@id("a") permit (principal, action, resource in Server::"gh"); @id("b") forbid (principal, action, resource in Label::"outbound");`, alice, " gh/get_issue gh/pay gh/review"},
		{"a condition hides nothing", `@id("a") permit (principal, action == Action::"call", resource in Server::"gh") when {context.args.amount > 3};`, alice, " gh/get_issue gh/create_issue gh/pay"},
		{"a question hides nothing", `@id("a") permit (principal, action, resource); @id("b") @ask("Sure?") forbid (principal, action, resource);`, bob, " gh/get_issue gh/create_issue mail/send mail/list gh/pay gh/review fs/file:///docs/a/b.md fs/file:///etc/passwd"},
		{"a shadow hides nothing", `@id("a") permit (principal, action, resource == Tool::"gh/pay"); @id("b") @shadow forbid (principal, action, resource);`, bob, " gh/pay"},
		{"a shadow permits nothing", `@id("a") @shadow permit (principal, action, resource);`, bob, ""},
		{"a forbid that fails hides", `@id("a") permit (principal, action, resource == Tool::"gh/pay"); @id("b") forbid (principal, action, resource) when {9223372036854775807 + 1 > 0};`, bob, ""},
		{"a permit that fails permits nothing", `@id("a") permit (principal, action, resource) when {9223372036854775807 + 1 > 0};`, bob, ""},
		{"a tag", `@id("a") permit (principal, action, resource == Tool::"gh/pay") when {principal.hasTag("team") && principal.getTag("team").contains("blue")};`, alice, " gh/pay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := compile(t, c.text).Snapshot(testServers, testItems).View(c.who)
			if got := seen(v); got != c.want {
				t.Errorf("visible are%s, want%s", got, c.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	const all = `@id("all") permit (principal, action, resource); `
	for _, c := range []struct {
		name, text, arguments string
		want                  policy.Verdict
		reason                string
	}{
		{"a permit with an argument", `@id("a") permit (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount <= 500};`, `{"amount":5e2}`, policy.Allow, ""},
		{"too much", `@id("a") permit (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount <= 500};`, `{"amount":501}`, policy.Deny, "no policy allows it"},
		{"absent", `@id("a") permit (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount <= 500};`, `{}`, policy.Deny, "no policy allows it"},
		{"not exact", `@id("a") permit (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount <= 500};`, `{"amount":1e30}`, policy.Deny, "argument /amount cannot be checked"},
		{"a forbid that fails", all + `@id("b") forbid (principal, action == Action::"call", resource) when {context.args.amount + 1 > 5};`, `{"amount":9223372036854775807}`, policy.Deny, "the policy cannot be evaluated"},
		{"a forbid of what is absent fails", all + `@id("b") forbid (principal, action == Action::"call", resource) when {context.args.amount > 5};`, `{}`, policy.Deny, "the policy cannot be evaluated"},
		{"a path", all + `@id("b") @reason("system files") forbid (principal, action == Action::"call", resource) when {context.clean has path && context.clean.path like "/etc/*"};`, `{"path":"/data/../etc/passwd"}`, policy.Deny, "system files"},
		{"another path", all + `@id("b") forbid (principal, action == Action::"call", resource) when {context.clean has path && context.clean.path like "/etc/*"};`, `{"path":"/etc/../data"}`, policy.Allow, ""},
		{"a question", all + `@id("b") @ask("Sure?") forbid (principal, action, resource);`, `{}`, policy.Ask, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := compile(t, c.text).Snapshot(testServers, testItems).View(alice)
			visible, conditions := v.Item(4)
			if !visible || conditions == nil {
				t.Fatalf("visible %v, conditions %v", visible, conditions)
			}
			out := conditions.Decide(&policy.Request{Arguments: []byte(c.arguments)})
			if out.Verdict != c.want || out.Reason != c.reason {
				t.Errorf("got %v, %q; want %v, %q", out.Verdict, out.Reason, c.want, c.reason)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	v := compile(t, `@id("all") permit (principal, action, resource);
@id("b")
forbid (principal in Group::"eng", action == Action::"call", resource in Server::"gh")
when {context.args has amount && context.args.amount > 500 && resource.name == "pay"} unless {context.args.amount == 7};
@id("c") forbid (principal, action, resource in Server::"fs");`).Snapshot(testServers, testItems).View(alice)
	e := v.Explain(policy.Call, testItems[4], &policy.Request{Principal: alice, Arguments: []byte(`{"amount":501}`)})
	if !e.Visible || e.Outcome.Verdict != policy.Deny || len(e.Outcome.By) != 1 || e.Outcome.By[0].ID != "b" {
		t.Fatalf("%+v", e)
	}
	if len(e.Policies) != 2 || e.Policies[1].Line != 2 || len(e.Policies[1].Conditions) != 4 {
		t.Fatalf("%+v", e.Policies)
	}
	second := e.Policies[1].Conditions[1]
	if second.Text != "context.args.amount > 500" || len(second.Values) != 1 || second.Values[0] != (policy.Value{Name: "context.args.amount", Text: "501"}) {
		t.Errorf("%+v", second)
	}
	e = v.Explain(policy.Call, testItems[4], &policy.Request{Principal: alice, Arguments: []byte(`{"amount":5}`)})
	if c := e.Policies[1].Conditions; e.Outcome.Verdict != policy.Allow || len(c) != 2 || c[1].Holds {
		t.Errorf("%+v", e)
	}
}
