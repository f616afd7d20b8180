package policies

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/policy/schema"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// finding is one fault of the policies; an element of policy check --json.
type finding struct {
	// Kind is syntax, schema, name, never or shadowed.
	Kind    string `json:"kind"`
	Policy  string `json:"policy,omitempty"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Check prints what is wrong with the policies. It fails with ErrFindings.
func (p *Command) Check(ctx context.Context) error {
	l, err := p.load(ctx)
	var at *config.Problem
	findings := []finding{}
	switch {
	case errors.As(err, &at):
		findings = append(findings, finding{Kind: "syntax", File: at.File, Line: at.Line, Column: at.Column, Message: at.Message, Hint: at.Remedy})
	case err != nil:
		return err
	default:
		c := &checking{loaded: l, program: p}
		if err := c.run(); err != nil {
			return err
		}
		findings = append(findings, c.findings...)
	}
	count := 0
	if l != nil && l.set != nil {
		count = len(l.set.Policies())
	}
	if p.UI.WantJSON() {
		err = p.UI.EncodeJSON(struct {
			OK       bool      `json:"ok"`
			Policies int       `json:"policies"`
			Findings []finding `json:"findings"`
		}{len(findings) == 0, count, findings})
	} else {
		err = p.printFindings(l, count, findings)
	}
	if err == nil && len(findings) > 0 {
		err = ErrFindings
	}
	return err
}

func (p *Command) printFindings(l *loaded, count int, all []finding) error {
	var b strings.Builder
	c := p.UI.Palette()
	for _, f := range all {
		what := f.Message
		if f.Policy != "" {
			what = f.Policy + ": " + what
		}
		fmt.Fprintf(&b, "%s: %s\n", p.place(f.File, f.Line), ui.CleanLine(what))
		if f.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", ui.CleanLine(f.Hint))
		}
	}
	switch {
	case len(all) > 0:
		fmt.Fprintf(&b, "%s: %d\n", c.Red("findings"), len(all))
	case l.Section == nil:
		b.WriteString("config.yaml has no section access: everything is allowed\n")
	default:
		fmt.Fprintf(&b, "%s: %d policies\n", c.Green("ok"), count)
	}
	if l != nil {
		var unknown []string
		for _, s := range l.servers {
			if !l.listed[s.Name] {
				unknown = append(unknown, s.Name)
			}
		}
		if len(unknown) > 0 {
			p.UI.Info("note: it is not known what %s offer: mcpctl tools asks", strings.Join(unknown, ", "))
		}
	}
	_, err := p.UI.Out.Write([]byte(b.String()))
	return err
}

// checking is one run of the checks.
type checking struct {
	*loaded
	program  *Command
	findings []finding
	policies []*schema.Policy
	compiled map[string]*policy.Policy
	// reach are the indexes of the items that each policy is about, and idle says of
	// which it never holds, whatever is asked.
	reach map[string]map[int]bool
	idle  map[string]string
}

func (c *checking) run() error {
	c.compiled = map[string]*policy.Policy{}
	for _, of := range c.set.Policies() {
		c.compiled[of.ID] = of
	}
	for _, src := range c.Config.Sources {
		all, err := schema.Parse(src)
		if err != nil {
			return err
		}
		c.policies = append(c.policies, all...)
	}
	slices.SortFunc(c.policies, func(a, b *schema.Policy) int { return strings.Compare(a.ID, b.ID) })
	c.follow()
	unmatched, err := c.Unmatched(c.set, c.named)
	if err != nil {
		return err
	}
	misnamed := map[string]bool{}
	for _, u := range unmatched {
		c.find("name", u.Policy.ID, u.Message, u.Hint)
		misnamed[u.Policy.ID] = true
	}
	for _, of := range c.policies {
		n := len(c.findings)
		if !c.compiled[of.ID].MayMatchNothing {
			c.names(of)
		}
		c.schema(of)
		if len(c.findings) == n && !misnamed[of.ID] && !c.compiled[of.ID].MayMatchNothing {
			c.never(of)
		}
	}
	c.shadowed()
	slices.SortStableFunc(c.findings, func(a, b finding) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return nil
}

// find notes a finding. Policies of one rule share it.
func (c *checking) find(kind, id, message, hint string) {
	at := c.compiled[id]
	f := finding{Kind: kind, Policy: id, File: at.File, Line: at.Line, Column: at.Column, Message: message, Hint: hint}
	if at.File == c.Path() {
		f.Column = 0 // it is that of the Cedar
	}
	if !slices.ContainsFunc(c.findings, func(o finding) bool { return o.File == f.File && o.Line == f.Line && o.Message == f.Message }) {
		c.findings = append(c.findings, f)
	}
}

// follow finds which items each policy is about, for principals who are in all groups.
func (c *checking) follow() {
	c.reach, c.idle = map[string]map[int]bool{}, map[string]string{}
	held := map[string]bool{}
	for _, principal := range c.principals() {
		view := c.world.View(principal)
		for i, it := range c.items {
			for _, a := range view.Explain(it.Kind.Action(), it, &policy.Request{Principal: principal, Now: time.Now()}).Policies {
				if c.reach[a.ID] == nil {
					c.reach[a.ID] = map[int]bool{}
				}
				c.reach[a.ID][i] = true
				if never := neverHolds(a); never != "" {
					c.idle[a.ID] = never
				} else {
					held[a.ID] = true
				}
			}
		}
	}
	for id := range held {
		delete(c.idle, id)
	}
}

// neverHolds returns a condition that no request makes true for the item, "" for none.
func neverHolds(a policy.Applied) string {
	if len(a.Conditions) == 0 || a.Holds {
		return ""
	}
	last := a.Conditions[len(a.Conditions)-1]
	if last.Holds || last.Failed != "" || strings.Contains(last.Text, "context") || strings.Contains(last.Text, "principal") {
		return ""
	}
	return last.Text
}

// principals are one in all groups, local, and those whom policies name.
func (c *checking) principals() []*access.Principal {
	everyone := &access.Principal{ID: "check|everyone", Provider: "check"}
	all := []*access.Principal{nil, everyone}
	for _, of := range c.policies {
		for _, n := range of.Names {
			switch n.Type {
			case "Group":
				switch {
				case strings.Contains(n.ID, "|"): // the group of one whom a rule names
					all = append(all, &access.Principal{ID: n.ID})
				case strings.Contains(n.ID, "@") && !strings.Contains(n.ID, ":"):
					all = append(all, &access.Principal{ID: "check|" + n.ID, Email: strings.ToLower(n.ID)})
				default:
					everyone.Groups = append(everyone.Groups, n.ID)
				}
			case "User":
				all = append(all, &access.Principal{ID: n.ID})
			}
		}
	}
	for _, of := range c.compiled {
		everyone.Scopes = append(everyone.Scopes, of.Scopes...)
	}
	for _, principal := range all[2:] {
		principal.Groups, principal.Scopes = everyone.Groups, everyone.Scopes
	}
	return all
}

// names checks the labels that a policy names.
func (c *checking) names(of *schema.Policy) {
	for _, n := range of.Names {
		if n.Type == "Label" {
			c.label(of, n.ID)
		}
	}
	for _, name := range of.Labels {
		if all := c.labelNames(); !slices.Contains(all, name) && !slices.Contains(c.foundLabels(), name) {
			c.find("name", of.ID, fmt.Sprintf("nothing has the label %q", name), plain.NearestHint(name, all, "give it in access: {labels: …}, or in an entry of servers.json"))
		}
	}
}

// foundLabels are those that guards give to messages, and the hooks of a config.yaml.
func (c *checking) foundLabels() []string {
	all := []string{guards.Secret, guards.Hidden, guards.Size}
	for _, h := range c.hooked.all {
		if h.Action == "label" {
			all = append(all, h.Name)
		}
	}
	return all
}

// labelNames are the labels that something can have, without patterns.
func (c *checking) labelNames() []string { return c.LabelNames(c.named) }

func (c *checking) label(of *schema.Policy, name string) {
	kind, pattern, _ := strings.Cut(name, ":")
	if pattern == "" || strings.Contains(kind, "/") {
		pattern = name
	}
	if server, _, isPattern := strings.Cut(pattern, "/"); isPattern {
		matches := slices.ContainsFunc(c.items, func(it policy.Item) bool { return it.Server == server && slices.Contains(c.labelsOf(it), name) })
		if slices.Contains(c.named.Servers, server) && c.listed[server] && kind != "resource" && !matches {
			c.find("name", of.ID, fmt.Sprintf("%q matches nothing", name), "mcpctl tools "+server+" lists what it has")
		}
		return
	}
	if all := c.labelNames(); !slices.Contains(all, name) {
		c.find("name", of.ID, fmt.Sprintf("nothing has the label %q", name), plain.NearestHint(name, all, "give it in access: {labels: …}, or in an entry of servers.json"))
	}
}

// labelsOf are the labels of an item.
func (c *checking) labelsOf(it policy.Item) []string {
	return c.world.View(nil).Explain(policy.Call, it, &policy.Request{}).Labels
}

// schema has Cedar check a policy for the tools that it is about.
func (c *checking) schema(of *schema.Policy) {
	if of.Reads() && !of.About(policy.Call) {
		c.find("schema", of.ID, "it reads arguments, which only calls of tools have", `write action == Action::"call"`)
		return
	}
	var tools []policy.Item
	for i := range c.reach[of.ID] {
		if c.items[i].Kind == policy.Tool {
			tools = append(tools, c.items[i])
		}
	}
	slices.SortFunc(tools, func(a, b policy.Item) int { return strings.Compare(a.Server+"/"+a.Name, b.Server+"/"+b.Name) })
	if of.Reads() && len(tools) == 0 {
		if c.allListed(of) {
			c.find("schema", of.ID, "it reads arguments, and is about no tool that there is", "")
		}
		return
	}
	for _, f := range of.Check(tools) {
		c.find("schema", of.ID, f.Text, f.Remedy)
	}
}

// allListed reports whether it is known what the servers offer that a policy can be about.
func (c *checking) allListed(of *schema.Policy) bool {
	named := false
	for _, n := range of.Names {
		server, _, isItem := strings.Cut(n.ID, "/")
		if _, rest, prefixed := strings.Cut(server, ":"); prefixed {
			server = rest
		}
		if n.Type == "Server" || isItem && n.Type != "User" && n.Type != "Group" {
			if named = true; !c.listed[server] {
				return false
			}
		}
	}
	return named || !slices.ContainsFunc(c.servers, func(s policy.Server) bool { return !c.listed[s.Name] })
}

// never finds policies that can never count.
func (c *checking) never(of *schema.Policy) {
	if !of.About(policy.Call) && !of.About(policy.Get) && !of.About(policy.Read) || len(c.items) == 0 {
		return
	}
	switch text := c.idle[of.ID]; {
	case text == "resource.readOnly":
		if of.About(policy.Call) {
			c.find("never", of.ID, "it is about no tool: none is known to only read", `annotations count where servers.json has "trustAnnotations": true, or mcpctl lock has pinned the tool`)
		}
	case text != "":
		c.find("never", of.ID, "it never holds: "+text+" is false for all that it is about", "")
	case len(c.reach[of.ID]) == 0 && c.allListed(of) && c.aboutItems(of):
		c.find("never", of.ID, "it is about nothing that there is", "")
	}
}

// aboutItems reports whether a policy needs items: one about a server alone, or resources,
// which need not be listed, can hold without them.
func (c *checking) aboutItems(of *schema.Policy) bool {
	return !slices.ContainsFunc(of.Names, func(n schema.Name) bool {
		return n.Type == "Server" || n.Type == "Resource" || n.Type == "Label" && strings.HasPrefix(n.ID, "resource:")
	})
}

// shadowed finds permits of which a forbid takes away all.
func (c *checking) shadowed() {
	for _, of := range c.policies {
		reach := c.reach[of.ID]
		if !of.Permit || len(reach) == 0 || c.compiled[of.ID].Shadow {
			continue
		}
		for _, policy := range c.policies {
			f := c.compiled[policy.ID]
			if policy.Permit || !policy.Always || f.Shadow || f.Limit != nil || f.Question != "" || policy.Principal != "" && policy.Principal != of.Principal || !covers(policy, of) {
				continue
			}
			if slices.ContainsFunc(slices.Collect(maps.Keys(reach)), func(i int) bool { return !c.reach[policy.ID][i] }) {
				continue
			}
			c.find("shadowed", of.ID, fmt.Sprintf("it allows nothing: %s (%s) denies all of it", policy.ID, c.program.place(f.File, f.Line)), "remove one of the two")
			break
		}
	}
}

// covers reports whether a policy is about all actions of another, as far as items go.
func covers(wide, of *schema.Policy) bool {
	for _, a := range []policy.Action{policy.Call, policy.Get, policy.Read} {
		if of.About(a) && !wide.About(a) {
			return false
		}
	}
	return true
}
