package attacks_test

import "github.com/mcpctl/mcpctl/test/breaks"

// policyBreakages are those of policies beyond the engine, whose own are those of make
// policy-breaks.
func policyBreakages() []breakage {
	const (
		router    = "runtime/proxy/internal/router"
		catalog   = "runtime/proxy/internal/catalog"
		authorize = "runtime/proxy/internal/authorize"
		gate      = "internal/access/gate"
		local     = "cmd/internal/policies"
	)
	return []breakage{
		one("policies", "policies filter lists only", catalog, "(*Catalog).reroute", `routes := make(map[string]*Route, c.lists[k].count)`, "routes := make(map[string]*Route, c.lists[k].count)\n\tfor n, r := range c.policies.full.Routes[k] {\n\t\troutes[n] = r\n\t}",
			"policies/hidden: a tool, 2025-11-25", "policies/hidden: a prompt, 2026-07-28", "policies/hidden: a tool, 2026-07-28, stdio"),
		one("policies", "views are shared by all principals", catalog, "(*policies).under", `if c := ps.views[v]; c != nil {`, `for _, c := range ps.views {`,
			"policies/hidden: a tool, 2025-11-25", "policies/hidden: the tools, 2026-07-28"),
		one("policies", "what is hidden and not listed is found", catalog, "(*Catalog).unlisted", "if !visible {\n\t\treturn nil\n\t}", "_ = visible",
			"policies/hidden: a resource that is in no list, 2025-11-25", "policies/hidden: a resource that is in no list, 2026-07-28, stdio"),
		one("policies", "what is hidden is said to be denied", catalog, "(*Publisher).Resolve", "if r := p.otherwiseSpelt(c, k, name); r != nil {\n", "if c.policies != nil && c.policies.full.Routes[k][name] != nil {\n\t\treturn nil, &access.Denied{Code: access.CodeDenied}\n\t}\n\tif r := p.otherwiseSpelt(c, k, name); r != nil {\n",
			"policies/hidden: a tool, 2025-11-25", "policies/hidden: a prompt, 2026-07-28, stdio"),
		one("policies", "what is in no list is delivered", catalog, "(*Catalog).unlisted", `rulesOf(use, deliver, marks)`, `rulesOf(use, nil, marks); _ = deliver`,
			"policies/a result that may not be delivered, of what is in no list, 2025-11-25", "policies/a result that may not be delivered, of what a template means, 2026-07-28, stdio"),
		one("policies", "calls are not decided on the fast way", router, "(*Router).admitFast", `if err := rt.Authorizer.DecideNow(r.Rules.Use, use, inventory.Tools); err != nil {`, `if err := rt.Authorizer.DecideNow(r.Rules.Use, use, inventory.Tools); err != nil && use == nil {`,
			"policies/decided: denied first, then allowed, 2025-11-25", "policies/a number: too much, 2025-11-25"),
		one("policies", "other requests than calls are not decided", authorize, "(*Request).Admit", `if err := c.authorizer.Decide(ctx, q.From, rules.Use, use, k); err != nil {`, `if err := c.authorizer.Decide(ctx, q.From, rules.Use, use, k); err != nil && k == inventory.Tools {`,
			"policies/decided: a prompt that is seen and denied, 2025-11-25", "policies/decided: a resource that is seen and denied, 2026-07-28"),
		one("policies", "arguments are absent when it is decided", authorize, "UseOf", `u.Arguments = m.Arguments.Of(line)`, `_ = u.Arguments`,
			"policies/a number: too much, 2025-11-25", "policies/a path: above the folder, 2026-07-28"),
		one("policies", "a task is a call like others", authorize, "UseOf", `u.Task = at.Present()`, `u.Task = at.Present() && line == nil`,
			"policies/decided: a call as a task, 2025-11-25"),
		one("policies", "a limit is counted after the call", gate, "(*Gate).Decide", `err = d.count(without(out.Over, u.counted))`, `over := without(out.Over, u.counted); go func() { time.Sleep(200 * time.Millisecond); _ = d.count(over) }()`,
			"policies/limits: 100 calls at once"),
		one("policies", "a limit is everybody's", gate, "(*decision).keys", `parts = append(parts, d.use.Principal.Key())`, `_ = parts`,
			"policies/limits: sessions, names and eras are no way around"),
		one("policies", "quotas end with the process", gate, "(*Gate).RestoreQuotas", `return g.limits.Restore(ctx, time.Now(), k)`, `return nil`,
			"policies/limits: 100 calls of a day at once, and a serve after it"),
		one("policies", "broken policies are none", "cmd/internal/gateway", "(*policing).open", "next, unmatched, err := p.read(g)\n\tif err != nil {\n\t\treturn err\n\t}", "next, _ := p.read()",
			"policies/policies that are broken when serve starts"),

		one("flows", "a conversation is anybody's", authorize, "flowOf", `return gate.FlowKey("alone", from.Who.Key(), program, named)`, `return gate.FlowKey("alone", program, named)`,
			"flows/the name of a conversation of another"),
		one("flows", "who names no conversation has none", authorize, "flowOf", `return gate.FlowKey("alone", from.Who.Key(), program, named)`, `if named == "" { named = time.Now().String() }
	return gate.FlowKey("alone", from.Who.Key(), program, named)`,
			"flows/those without a name are one conversation", "flows/a name that is not a text"),
		one("flows", "conversations see nothing", gate, "(*Gate).Deliver", `g.flows.Add(u.Now, u.Owner, d.flow, marks)`, `_ = marks`,
			"flows/what is private after what is untrusted, 2025-11-25", "flows/in the other order, 2026-07-28"),
		one("flows", "what is in no list leaves no label", catalog, "(*Catalog).unlisted", `rulesOf(use, deliver, marks)`, `rulesOf(use, deliver, marks[:0])`,
			"flows/what a template means is private, 2025-11-25", "flows/what is in no list of a private server, 2026-07-28"),
		one("flows", "what says that it is a task is not looked at", router, "delivered", "if err == nil && isTask(r.Method, result) && r.From.Modern() {", "if err == nil && isTask(r.Method, result) {\n\t\treturn result, nil\n\t}\n\tif false {",
			"flows/a result that says that it is a task, 2025-11-25"),
		one("flows", "completions are delivered to everybody", router, "(*Request).complete", `return delivered(ctx, r, k, to, result, err)`, `return result, err`,
			"flows/a completion for a private prompt, 2025-11-25", "policies/a result that may not be delivered, of a completion, 2026-07-28"),
		one("flows", "to accept a form is a yes", "runtime/proxy/internal/authorize", "saysYes", `return err == nil && string(allow.Of(content)) == "true"`, `return err == nil || len(allow.Of(content)) == 0`,
			"flows/no yes: accepted, empty, 2025-11-25", "flows/no yes: not ticked, 2026-07-28"),
		{
			defence: "flows", name: "an approval is anybody's", below: router,
			edits: []breaks.Edit{
				{Decl: "(*state).sealed", From: `statePurpose+audience`, To: `statePurpose`},
				{Decl: "(*Request).unseal", From: `statePurpose+r.From.Key()`, To: `statePurpose`},
			},
			cases: []string{"flows/a yes of another, 2026-07-28"},
		},
		one("flows", "an approval is for any arguments", "internal/access/gate", "(*ApprovalRequest).digest", `string(r.Arguments)`, `""`,
			"flows/approved on a page: other arguments, 2025-11-25", "flows/approved on a page: none, 2026-07-28"),
		one("flows", "an approval on a page is anybody's", "internal/access/gate", "(*ApprovalRequest).digest", `[]string{r.Principal, `, `[]string{`,
			"flows/approved on a page: another's call, 2025-11-25"),
		one("flows", "an approval is for any tool", router, "(*Request).unseal", `if s.Method != r.Method || s.Target != target {`, `if s.Method != r.Method && s.Target != target {`,
			"flows/a yes for another tool, 2026-07-28"),
		one("flows", "no answer is a yes", gate, "(*Gate).Answered", `if a == Yes {`, `if a == Yes || a == Unasked {`,
			"flows/nobody can be asked, 2025-11-25", "flows/an error instead of an answer, 2025-11-25"),
		one("pins", "what was looked at may change", "internal/lockfile", "(*Guard).Pinned", `case known && bytes.Equal(before.raw, raw):`, `case known || bytes.Equal(before.raw, raw):`,
			"pinned/its description, by a policy"),
		one("commands", "commands do without policies", local, "(*Policies).Connect", `if !concern && p.audit() == nil {`, `if !concern && p.audit() == nil || entry.Name != "" {`,
			"commanded/call a seen", "commanded/prompt a tell", "commanded/tools a"),
		one("commands", "what nobody reads is run", local, "(*Policies).Unread", `if !concern {`, `if !concern || command != "" {`,
			"commanded/run b", "commanded/a program behind bridge"),
	}
}
