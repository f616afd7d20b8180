package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

func TestProblems(t *testing.T) {
	const rest = ` permit (principal, action, resource);`
	for _, c := range []struct{ text, want string }{
		{`permit (principal, action, resource);`, `p.cedar:11:1: it needs an id: @id("NAME")`},
		{"\n\n  @id(\"\")" + rest, `p.cedar:13:3: it needs an id: @id("NAME")`},
		{`@id("a")` + rest + "\n" + `@id("a")` + rest, `p.cedar:12:1: policy a: another policy has the id a: that at p.cedar:11`},
		{`@id("a") @scop("x")` + rest, `p.cedar:11:1: policy a: there is no annotation @scop: did you mean @scope?`},
		{`@id("a") @owner("x")` + rest, `p.cedar:11:1: policy a: there is no annotation @owner`},
		{`@id("a") @scope("")` + rest, `p.cedar:11:1: policy a: @scope needs scopes: @scope("gh.write")`},
		{`@id("a") @scope("x") forbid (principal, action, resource);`, `p.cedar:11:1: policy a: @scope is for permits`},
		{`@id("a") @ask("x")` + rest, `p.cedar:11:1: policy a: @ask is for forbids`},
		{`@id("a") @ask forbid (principal, action, resource);`, `p.cedar:11:1: policy a: @ask needs a question: @ask("Send {tool} to {server}?")`},
		{`@id("a") @ask("{args}?") forbid (principal, action, resource);`, `p.cedar:11:1: policy a: @ask has no {args}: there are {tool}, {server}, {prompt}`},
		{`@id("a") @over("1/m")` + rest, `p.cedar:11:1: policy a: @over is for forbids`},
		{`@id("a") @over("1/m") @ask("x?") forbid (principal, action, resource);`, `p.cedar:11:1: policy a: it has @ask and @over: write two policies`},
		{`@id("a") @over("0/m") forbid (principal, action, resource);`, `p.cedar:11:1: policy a: @over is written as "60/m", "60/m burst 10", "60/m per principal, tool"`},
		{`@id("a") @over("1/w") forbid (principal, action, resource);`, `@over is written as`},
		{`@id("a") @over("1/m per") forbid (principal, action, resource);`, `@over is written as`},
		{`@id("a") @over("1/m per user") forbid (principal, action, resource);`, `@over is written as`},
		{`@id("a") @over("1/m burst 0") forbid (principal, action, resource);`, `@over is written as`},
		{`@id("a") @shadow("x")` + rest, `@shadow has no value`},
		{`@id("a") permit (principal, action, resource)`, `p.cedar:11:`},
		{"@id(\"a\")\npermit (principal, action, ressource);", `p.cedar:12:`},
		{"@id(\"a\")\npermit (principal, action, resource) when {\"unterminated};", `p.cedar:12:`},
		{`@id("a") permit (principal, action, resource) when {context.arg.n > 1};`, `context has no arg`},
		{`@id("a") permit (principal, action, resource) when {context == {}};`, `context cannot be read as a whole: name its members`},
		{`@id("a") permit (principal, action, resource) when {context.args == {}};`, `context.args cannot be read as a whole: name its members`},
		{`@id("a") permit (principal, action == Action::"cal", resource);`, `there is no action Action::"cal"`},
		{`@id("a") permit (principal, action, resource in Servr::"x");`, `there are no entities of type Servr: there are User, Group, Label, Server, Tool, Prompt, Resource, Action`},
		{`@id("a") permit (principal is Usr, action, resource);`, `there are no entities of type Usr`},
		{`@id("a") permit (principal, action, resource == Resource::"fs/FILE:///a/../b");`, `is written as Resource::"fs/file:///b"`},
		{`@id("a") permit (principal, action, resource) when {context.args has a` + strings.Repeat(".b", 40) + `};`, `context is read deeper than 32 members`},
		{strings.Repeat(" ", 1<<20), `the text is longer than 256 KiB`},
	} {
		_, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "p.cedar", Line: 10, Text: []byte(c.text)}}})
		var p *policy.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.want) || p.File != "p.cedar" {
			t.Errorf("%.80s\ngot %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestAnnotations(t *testing.T) {
	s := compile(t, `@id("a") @reason("why") @scope("x y") permit (principal, action, resource);
@id("b") @ask("Send {tool} to {server}?") forbid (principal, action, resource);
@id("c") @ask("\"Sure?\" per flow") forbid (principal, action, resource);
@id("d") @over("60/m per principal, tool") forbid (principal, action, resource);
@id("e") @over("5/d burst 2 per group") @shadow forbid (principal, action, resource);`)
	p := s.Policies()
	if p[0].Reason != "why" || !p[0].Permit || len(p[0].Scopes) != 2 || p[0].Line != 1 || p[0].Column != 1 {
		t.Errorf("%+v", p[0])
	}
	if p[1].Question != "Send {tool} to {server}?" || p[1].PerFlow || p[1].Permit {
		t.Errorf("%+v", p[1])
	}
	if p[2].Question != "Sure?" || !p[2].PerFlow {
		t.Errorf("%+v", p[2])
	}
	if l := p[3].Limit; l.N != 60 || l.Every != time.Minute || l.Burst != 60 || len(l.Per) != 2 || l.Per[1] != "tool" {
		t.Errorf("%+v", l)
	}
	if l := p[4].Limit; l.N != 5 || l.Every != 24*time.Hour || l.Burst != 2 || len(l.Per) != 1 || !p[4].Shadow {
		t.Errorf("%+v", l)
	}
}

// FuzzCompile: a text becomes policies or a problem with a place, and what it becomes
// decides without a panic.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`@id("a") permit (principal, action, resource) when {context.args.n > 1 && resource.readOnly};`,
		`@id("a") @over("1/s burst 2") forbid (principal in Group::"x", action in [Action::"call"], resource in Label::"a/**");`,
		`@id("a") permit (principal, action, resource) unless {if context has ip then context.ip.isLoopback() else [1, "a"].contains(context.args.x.y)};`,
		`@id("a") permit (principal, action, resource) when {` + strings.Repeat("(", 50) + `true` + strings.Repeat(")", 50) + `};`,
		`@id("a") permit (principal, action, resource == Resource::"fs/file:///a%zz");`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := policy.Compile(policy.Config{Sources: []policy.Source{{Name: "f", Text: []byte(text)}}})
		if err != nil {
			var p *policy.Problem
			if !errors.As(err, &p) || p.Text == "" || p.File != "f" {
				t.Fatalf("%v", err)
			}
			return
		}
		v := s.Snapshot(testServers, testItems).View(alice)
		for i := range testItems {
			if _, c := v.Item(i); c != nil {
				if out := c.Decide(&policy.Request{Arguments: []byte(`{"n":1,"x":{"y":2}}`)}); out.Reason == "the policies cannot be evaluated" {
					t.Fatal("it panics")
				}
			}
		}
	})
}
