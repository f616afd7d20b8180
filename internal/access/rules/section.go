package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// Values of default.
const (
	Deny     = "deny"
	Allow    = "allow"
	ReadOnly = "read-only"
)

// defaultID is the id of the policy that default becomes.
const defaultID = "default"

// defaultForget is how long the labels of a conversation last without a call.
const defaultForget = time.Hour

// Section is the section access. It is immutable.
type Section struct {
	// Default is what counts for what no rule is about: Deny, Allow or ReadOnly, "" where
	// the section does not say.
	Default string
	// Groups and Labels have their members. They include those that rules name directly.
	Groups, Labels map[string][]string
	// FromAnnotations says that tools have labels for their trusted annotations.
	FromAnnotations bool
	// Policies and Tests are patterns of files, relative to the file of the section.
	Policies, Tests []Pattern
	// TellNothing says that who is denied learns no policy and no reason.
	TellNothing bool
	// Forget is how long the labels of a conversation last without a call.
	Forget time.Duration
	// Guards is what is looked for in messages.
	Guards guards.Config

	reader
	at        int // the line of default, or of the section
	rules     []*rule
	byID      map[string]*rule
	declared  map[string]bool // groups of the section itself
	ownLabels map[string]bool // the same for labels
}

// Pattern is a pattern of files and where it is written.
type Pattern struct {
	Text         string
	Line, Column int
}

// Members returns the names of the settings in the section.
func Members() []string {
	return []string{"default", "groups", "labels", "rules", "policies", "tests", "tell", "forget", "guards"}
}

// Parse reads the section; file is for problems and sources. The error is a
// *policy.Problem.
func Parse(file string, n *yaml.Node) (*Section, error) {
	s := &Section{
		Groups: map[string][]string{}, Labels: map[string][]string{}, Forget: defaultForget,
		reader: reader{file}, at: n.Line, byID: map[string]*rule{}, declared: map[string]bool{}, ownLabels: map[string]bool{},
	}
	if isNull(n) {
		return s, nil
	}
	all, err := s.mapping(n, "access", Members(), "as in access: {rules: [{allow: alice@example.com, to: gh}]}")
	if err != nil {
		return nil, err
	}
	// Rules come last: they name groups and labels.
	for _, part := range []struct {
		name string
		read func(*yaml.Node) error
	}{
		{"default", s.readDefault},
		{"groups", s.readGroups},
		{"labels", s.readLabels},
		{"policies", func(n *yaml.Node) error { return s.patterns("access.policies", n, &s.Policies) }},
		{"tests", func(n *yaml.Node) error { return s.patterns("access.tests", n, &s.Tests) }},
		{"tell", s.readTell},
		{"forget", s.readForget},
		{"guards", s.readGuards},
		{"rules", s.readRules},
	} {
		if v := all[part.name]; v != nil {
			if err := part.read(v); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *Section) readDefault(n *yaml.Node) error {
	v, err := s.word("access.default", n, "write deny, allow or read-only", Deny, Allow, ReadOnly)
	s.Default, s.at = v, n.Line
	return err
}

func (s *Section) readTell(n *yaml.Node) error {
	v, err := s.word("access.tell", n, "write reason or nothing", "reason", "nothing")
	s.TellNothing = v == "nothing"
	return err
}

func (s *Section) readForget(n *yaml.Node) error {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		return s.fault(n, "access.forget is no time", "write one such as 30m or 1h")
	}
	s.Forget = d
	return nil
}

func (s *Section) patterns(name string, n *yaml.Node, to *[]Pattern) error {
	example := map[bool]string{true: "as in policies: [policy/*.cedar]", false: "as in tests: [policy/*_test.yaml]"}[to == &s.Policies]
	items, err := s.list(name, n, example)
	for _, i := range items {
		*to = append(*to, Pattern{Text: i.Value, Line: i.Line, Column: i.Column})
	}
	return err
}

func (s *Section) readGroups(n *yaml.Node) error {
	const example = `as in groups: {eng: [alice@example.com, "idp:engineers", "token|ci"]}`
	all, err := s.mapping(n, "access.groups", nil, example)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		if !IsName(name) || name == "local" {
			return s.fault(v, fmt.Sprintf("%q cannot be the name of a group", name), "a name has letters, digits, '-', '_' and '.'; local is who is asked nothing")
		}
		members, err := s.list("access.groups."+name, v, example)
		if err != nil {
			return err
		}
		s.declared[name], s.Groups[name] = true, []string{}
		for _, m := range members {
			if m.Value == "*" {
				return s.fault(m, "a group has no member \"*\"", `write "*" in the rule, for everyone`)
			}
			if why := notPrincipal(m.Value); why != "" {
				return s.fault(m, why, principalForms)
			}
			s.Groups[name] = append(s.Groups[name], m.Value)
		}
	}
	return nil
}

const fromAnnotations = "fromAnnotations"

// annotationLabels are those that fromAnnotations gives.
func annotationLabels() []string { return []string{"outbound", "untrusted"} }

func (s *Section) readLabels(n *yaml.Node) error {
	const example = `as in labels: {private: [mail, "fs/read_*"]}`
	all, err := s.mapping(n, "access.labels", nil, example)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		if name == fromAnnotations {
			if v.Kind != yaml.ScalarNode || v.Tag != "!!bool" {
				return s.fault(v, "access.labels.fromAnnotations is neither true nor false", "write true or false")
			}
			s.FromAnnotations = v.Value == "true"
			continue
		}
		if !IsName(name) {
			return s.fault(v, fmt.Sprintf("%q cannot be the name of a label", name), "a name has letters, digits, '-', '_' and '.'")
		}
		members, err := s.list("access.labels."+name, v, example)
		if err != nil {
			return err
		}
		s.ownLabels[name], s.Labels[name] = true, []string{}
		for _, m := range members {
			t, why := parseTarget(m.Value)
			if why != "" || t.kind == anyTarget || t.kind == labelTarget {
				if why == "" {
					why = fmt.Sprintf("a label is not given to %q", m.Value)
				}
				return s.fault(m, why, targetForms)
			}
			s.Labels[name] = append(s.Labels[name], t.member())
		}
	}
	if s.FromAnnotations {
		for _, name := range annotationLabels() {
			s.ownLabels[name] = true
		}
	}
	return nil
}

// Config returns groups, labels and the policies of the rules; the policies of files are not
// in it. Auth says that serve asks who comes: without a default, all is denied then but to
// local, whom nobody asks, and allowed otherwise.
func (s *Section) Config(auth bool) policy.Config {
	c := policy.Config{Groups: s.Groups, Labels: s.Labels, FromAnnotations: s.FromAnnotations}
	for _, cedar := range s.defaults(auth) {
		c.Sources = append(c.Sources, s.source(s.at, cedar))
	}
	for _, r := range s.rules {
		for _, cedar := range r.cedar {
			c.Sources = append(c.Sources, s.source(r.Line, cedar))
		}
	}
	return c
}

func (s *Section) source(line int, cedar string) policy.Source {
	// On one line, so that the line of each of its parts is that of the rule.
	return policy.Source{Name: s.file, Line: max(line-1, 0), Text: []byte(strings.ReplaceAll(cedar, "\n", " "))}
}

// defaults returns the policies that default becomes.
func (s *Section) defaults(auth bool) []string {
	switch s.effective(auth) {
	case Deny:
		if s.Default == "" { // this machine's user, whom serve.auth is not about
			return []string{cedarText{id: defaultID, principal: `in Group::"local"`, actions: ruleActions()}.String()}
		}
	case Allow:
		return []string{cedarText{id: defaultID, actions: ruleActions()}.String()}
	case ReadOnly:
		return []string{
			cedarText{id: defaultID + ".1", actions: callActions(), when: []string{"resource.readOnly"}}.String(),
			// Nobody's data changes when a server asks its user, or when a user logs in to it.
			cedarText{id: defaultID + ".2", actions: ruleActions()[1:]}.String(),
		}
	}
	return nil
}

// effective is the default that counts.
func (s *Section) effective(auth bool) string {
	switch {
	case s.Default != "":
		return s.Default
	case auth:
		return Deny
	}
	return Allow
}

// Words returns the rule that has become a policy, for people: "" where no rule has.
func (s *Section) Words(id string) string {
	if id == defaultID || strings.HasPrefix(id, defaultID+".") {
		if s.Default == "" {
			return "default: allow where nobody is asked who they are"
		}
		return "default: " + s.Default
	}
	if r := s.byID[id]; r != nil {
		return r.words()
	}
	return ""
}

// RuleOf returns the id of the rule that has become a policy.
func (s *Section) RuleOf(id string) string {
	if r := s.byID[id]; r != nil {
		return r.id
	}
	if strings.HasPrefix(id, defaultID+".") {
		return defaultID
	}
	return id
}

// Rule is a rule, for people.
type Rule struct {
	// ID is that of the rule; its policies have it with ".1", ".2" and so on where there
	// are several. Words is the rule as a sentence.
	ID, Words string
	// Line and Column are where it is.
	Line, Column int
	// Cedar are its policies.
	Cedar []string
}

// List returns the rules as they are written, the default first, where it is a policy.
func (s *Section) List(auth bool) []Rule {
	var all []Rule
	if d := s.defaults(auth); d != nil {
		all = append(all, Rule{ID: defaultID, Words: s.Words(defaultID), Line: s.at, Cedar: d})
	}
	for _, r := range s.rules {
		all = append(all, Rule{ID: r.id, Words: r.words(), Line: r.Line, Column: r.Column, Cedar: r.cedar})
	}
	return all
}
