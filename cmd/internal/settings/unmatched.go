package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/access/policy/schema"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Names are what policies can name.
type Names struct {
	// Servers are all that are configured, also those that are disabled. Nil: it is not
	// known which there are.
	Servers []string
	// Labels are those that servers and items can have, without patterns.
	Labels []string
	// Tokens are the static tokens that serve accepts.
	Tokens []access.Token
	// Certificates are the groups of client certificates. Open says that a proxy gives
	// groups, which are not known here.
	Certificates []string
	Open         bool
	// Listed returns the names that a server was last seen to list, false where that is not
	// known. Nil: of no server.
	Listed func(server string, kind policy.Kind) (names []string, known bool)
}

// Names returns what policies can name: the servers of a file, nil for none that is known,
// and static tokens, which are in the folder of the state.
func (s *Settings) Names(f *config.File, stateDir string) Names {
	n := Names{Open: s.Serve.Access.Providers.Proxy != nil, Tokens: s.StaticTokens(stateDir)}
	if f != nil {
		n.Servers = []string{}
		for _, e := range f.Entries() {
			n.Servers = append(n.Servers, e.Name)
			n.Labels = append(n.Labels, e.Labels...)
		}
	}
	if m := s.Serve.Access.Providers.MTLS; m != nil {
		n.Certificates = slices.Collect(maps.Values(m.Groups))
	}
	return n
}

// StaticTokens returns the static tokens that serve accepts. One that cannot be read is none.
func (s *Settings) StaticTokens(stateDir string) []access.Token {
	if t := s.Serve.Access.Providers.Token; t != nil && t.List != nil {
		return t.List
	}
	if stateDir == "" {
		return nil
	}
	all, err := authn.NewTokenFile(filepath.Join(stateDir, authn.TokenFileName)).List()
	if err != nil {
		return nil
	}
	return all
}

// Unmatched is a name in a policy that nothing has.
type Unmatched struct {
	Policy        *policy.Policy
	Message, Hint string
	// Column is where the policy begins in its line.
	Column int
	// Stops says that the policy denies or asks, and that the name is nearly one that is
	// configured: it was meant for that, and protects nothing.
	Stops bool
}

// Problem returns it as a problem of the file that the policy is in.
func (u *Unmatched) Problem() *config.Problem {
	return &config.Problem{File: u.Policy.File, Line: u.Policy.Line, Column: u.Column, Message: u.Policy.ID + ": " + u.Message, Remedy: u.Hint}
}

// Unmatched returns what the policies name that does not exist, in the order of their IDs.
func (p *Policies) Unmatched(set *policy.Set, n Names) ([]Unmatched, error) {
	m := matching{Policies: p, names: n, labels: p.LabelNames(n)}
	compiled := map[string]*policy.Policy{}
	for _, of := range set.Policies() {
		compiled[of.ID] = of
	}
	for _, src := range p.Config.Sources {
		all, err := schema.Parse(src)
		if err != nil {
			return nil, err
		}
		for _, of := range all {
			if m.of = compiled[of.ID]; m.of == nil || m.of.MayMatchNothing {
				continue
			}
			for _, name := range of.Names {
				m.name(name)
			}
		}
	}
	slices.SortStableFunc(m.found, func(a, b Unmatched) int { return strings.Compare(a.Policy.ID, b.Policy.ID) })
	return m.found, nil
}

// misnamed returns a *config.Problem about a policy that denies or asks and names what nearly
// exists: it would protect nothing, so nothing may run by it. all are what the policies name
// that does not exist.
func misnamed(all []Unmatched) error {
	for i := range all {
		if all[i].Stops {
			problem := all[i].Problem()
			problem.Remedy += " If the name is right, add mayMatchNothing: true to the rule"
			return problem
		}
	}
	return nil
}

// LabelNames are the labels that something can have, without patterns.
func (p *Policies) LabelNames(n Names) []string {
	all := slices.Clone(n.Labels)
	for name := range p.Config.Labels {
		if !strings.ContainsAny(name, "/*") {
			all = append(all, name)
		}
	}
	if p.Config.FromAnnotations {
		all = append(all, "untrusted", "outbound")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// matching looks for the names of policies.
type matching struct {
	*Policies
	names  Names
	labels []string
	of     *policy.Policy
	found  []Unmatched
}

// miss notes a name that nothing has; meant is what a person may have meant, "" for nothing,
// and slip says that it is nearly the same.
func (m *matching) miss(message, meant string, slip bool, otherwise string) {
	u := Unmatched{Policy: m.of, Message: message, Hint: otherwise}
	if meant != "" {
		u.Hint = "did you mean " + meant + "?"
		u.Stops = slip && !m.of.Permit && m.of.Limit == nil && !m.of.Shadow
	}
	m.report(u)
}

func (m *matching) report(u Unmatched) {
	if u.Column = u.Policy.Column; u.Policy.File == m.path { // that is one of the Cedar that the rule has become
		u.Column = m.column(u.Policy.Line)
	}
	// The policies of one rule share what is found.
	if !slices.ContainsFunc(m.found, func(o Unmatched) bool {
		return o.Policy.File == u.Policy.File && o.Policy.Line == u.Policy.Line && o.Message == u.Message
	}) {
		m.found = append(m.found, u)
	}
}

func near(name string, names []string) string {
	if best := plain.Nearest(name, names, 1); len(best) > 0 {
		return best[0]
	}
	return ""
}

func (m *matching) name(n schema.Name) {
	switch n.Type {
	case "Server":
		m.server(n.ID)
	case "Tool", "Prompt", "Resource":
		m.item(n)
	case "Label":
		kind, pattern, prefixed := strings.Cut(n.ID, ":")
		if !prefixed || strings.Contains(kind, "/") {
			pattern = n.ID
		}
		if server, _, isPattern := strings.Cut(pattern, "/"); isPattern {
			m.server(server)
		}
	case "Group":
		m.group(n.ID)
	case "User":
		m.principal(n.ID)
	}
}

// server reports whether a server is configured.
func (m *matching) server(name string) bool {
	switch {
	case m.names.Servers == nil, slices.Contains(m.names.Servers, name):
		return m.names.Servers != nil
	case slices.Contains(m.labels, name):
		m.miss(fmt.Sprintf("there is no server %q, but a label", name), "label:"+name, true, "")
	default:
		best := near(name, append(slices.Clone(m.names.Servers), m.labels...))
		m.miss(fmt.Sprintf("there is no server %q", name), best, plain.IsSlip(name, best), "mcpctl list shows the configured servers")
	}
	return false
}

func (m *matching) item(n schema.Name) {
	server, name, _ := strings.Cut(n.ID, "/")
	kind, listable := map[string]policy.Kind{"Tool": policy.Tool, "Prompt": policy.Prompt}[n.Type] // resources need not be listed
	if !m.server(server) || !listable || m.names.Listed == nil {
		return
	}
	names, known := m.names.Listed(server, kind)
	if !known || slices.Contains(names, name) {
		return
	}
	// What a server lists decides no start, so this never stops one.
	m.report(Unmatched{
		Policy: m.of, Message: fmt.Sprintf("%s has no %s %q", server, strings.ToLower(n.Type), name),
		Hint: plain.NearestHint(name, names, "mcpctl tools "+server+" lists what it has"),
	})
}

// group looks for a group. Those of issuers have a prefix, and those of proxies are not known.
func (m *matching) group(name string) {
	_, configured := m.Config.Groups[name]
	switch {
	case strings.Contains(name, "|"): // the group of one whom a rule names
		m.principal(name)
		return
	case configured, name == access.Local, strings.ContainsAny(name, ":@"), m.names.Open:
		return
	}
	names := append(slices.Sorted(maps.Keys(m.Config.Groups)), m.names.Certificates...)
	for _, t := range m.names.Tokens {
		if t.Name == name {
			m.miss(fmt.Sprintf("nobody is in the group %q, but a token has that name", name), "token|"+name, true, "")
			return
		}
		names = append(names, t.Groups...)
	}
	if !slices.Contains(names, name) {
		best := near(name, names)
		m.miss(fmt.Sprintf("nobody is in the group %q", name), best, plain.IsSlip(name, best), "give it members in access: {groups: …}")
	}
}

// principal looks for a static token. Other principals are known to those who vouch for them.
func (m *matching) principal(id string) {
	name, isToken := strings.CutPrefix(id, "token|")
	if !isToken {
		return
	}
	var names []string
	for _, t := range m.names.Tokens {
		names = append(names, t.Name)
	}
	if names == nil || slices.Contains(names, name) {
		return // without any, tokens are not in use yet
	}
	best := near(name, names)
	slip := plain.IsSlip(name, best)
	if best != "" {
		best = "token|" + best
	}
	m.miss(fmt.Sprintf("there is no token %q", name), best, slip, "mcpctl access token list shows the tokens")
}
