package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPolicies bounds what one rule becomes.
const maxPolicies = 256

const exampleRule = `as in - {allow: eng, to: [gh, "fs/read_*"]}`

// Effects of rules, each a member that names principals.
func effects() []string { return []string{"allow", "deny", "ask", "limit"} }

func ruleMembers() []string {
	return append(effects(), "to", "only", "when", "after", "over", "scope", "question", "shadow", "mayMatchNothing", "reason", "id")
}

// rule is one rule, read.
type rule struct {
	*yaml.Node
	id, effect string
	principals []string
	to         []string // as written
	targets    []target
	only       bool // what only reads
	conditions []condition
	after      []string
	over       string
	scopes     []string
	question   string
	shadow     bool
	unmatched  bool // it may name what does not exist
	reason     string
	cedar      []string
}

func (s *Section) readRules(n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return s.fault(n, "access.rules is no list", exampleRule)
	}
	for i, item := range n.Content {
		r := &rule{Node: behind(item), id: "rule-" + strconv.Itoa(i+1)}
		if err := s.readRule(r); err != nil {
			return err
		}
		if err := s.addRule(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Section) readRule(r *rule) error {
	name := r.id
	all, err := s.mapping(r.Node, name, ruleMembers(), exampleRule)
	if err != nil {
		return err
	}
	for _, e := range effects() {
		switch {
		case all[e] == nil:
		case r.effect != "":
			return s.fault(all[e], name+" has both "+r.effect+" and "+e, "write two rules")
		default:
			r.effect = e
		}
	}
	switch {
	case r.effect == "":
		return s.fault(r.Node, name+" has none of allow, deny, ask and limit", exampleRule)
	case all["to"] == nil:
		return s.fault(r.Node, name+" does not say what it is about", `add to: and a server, a tool or a label; to: "*" is everything`)
	case (r.effect == "limit") != (all["over"] != nil):
		return s.fault(r.Node, name+" needs both limit and over, or none", `as in - {limit: eng, to: "*", over: 60/m per principal}`)
	case all["scope"] != nil && r.effect != "allow":
		return s.fault(all["scope"], "scope is for allow only", "what needs no scope is another rule")
	case all["question"] != nil && r.effect != "ask":
		return s.fault(all["question"], "question is for ask only", "write ask in the place of "+r.effect)
	case all["only"] != nil && r.effect == "limit":
		return s.fault(all["only"], "only is not for limit", "name what is limited with to")
	}
	return s.readMembers(r, all)
}

func (s *Section) readMembers(r *rule, all map[string]*yaml.Node) (err error) {
	if r.principals, err = s.principals(r.id+"."+r.effect, all[r.effect]); err != nil {
		return err
	}
	if err = s.targets(r, all["to"]); err != nil {
		return err
	}
	for _, text := range []struct {
		name string
		to   *string
	}{{"over", &r.over}, {"question", &r.question}, {"reason", &r.reason}, {"id", &r.id}} {
		n := all[text.name]
		switch {
		case n == nil:
		case n.Kind != yaml.ScalarNode || isNull(n) || strings.TrimSpace(n.Value) == "" || hasControl(n.Value):
			return s.fault(n, r.id+"."+text.name+" is no text on one line", exampleRule)
		case text.name == "id" && !IsName(n.Value):
			return s.fault(n, fmt.Sprintf("%q cannot be the id of a rule", n.Value), "an id has letters, digits, '-', '_' and '.'")
		default:
			*text.to = n.Value
		}
	}
	if n := all["only"]; n != nil {
		if _, err = s.word(r.id+".only", n, "write read-only", ReadOnly); err != nil {
			return err
		}
		r.only = true
	}
	for _, flag := range []struct {
		name   string
		to     *bool
		remedy string
	}{
		{"shadow", &r.shadow, "write shadow: true, to record what the rule would do"},
		{"mayMatchNothing", &r.unmatched, "write mayMatchNothing: true for a rule that may name what does not exist"},
	} {
		n := all[flag.name]
		if n == nil {
			continue
		}
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			return s.fault(n, r.id+"."+flag.name+" is neither true nor false", flag.remedy)
		}
		*flag.to = n.Value == "true"
	}
	if r.after, err = s.names(r.id+".after", all["after"], "as in after: [untrusted, private]"); err != nil {
		return err
	}
	if r.scopes, err = s.names(r.id+".scope", all["scope"], "as in scope: gh.write"); err != nil {
		return err
	}
	return s.conditions(r, all["when"])
}

// names returns a list of texts without spaces.
func (rd reader) names(name string, n *yaml.Node, example string) (all []string, err error) {
	if n == nil {
		return nil, nil
	}
	items, err := rd.list(name, n, example)
	if err == nil && len(items) == 0 {
		err = rd.fault(n, name+" is empty", example)
	}
	for _, i := range items {
		if strings.ContainsAny(i.Value, " \"") {
			return nil, rd.fault(i, fmt.Sprintf("%s has %q, which is not one name", name, i.Value), example)
		}
		all = append(all, i.Value)
	}
	return all, err
}

// principals reads whom a rule is about, and makes groups of those who are no group.
func (s *Section) principals(name string, n *yaml.Node) (all []string, err error) {
	items, err := s.list(name, n, principalForms)
	if err == nil && len(items) == 0 {
		err = s.fault(n, name+" names nobody", principalForms)
	}
	for _, i := range items {
		if why := notPrincipal(i.Value); why != "" {
			return nil, s.fault(i, why, principalForms)
		}
		if i.Value == "*" && len(items) > 1 {
			return nil, s.fault(i, `"*" is everyone: the others are in it`, `write "*" alone`)
		}
		if i.Value != "*" && !isGroupName(i.Value) {
			s.Groups[i.Value] = []string{i.Value}
		}
		if !slices.Contains(all, i.Value) {
			all = append(all, i.Value)
		}
	}
	return all, err
}

// targets reads what a rule is about, and makes labels of patterns.
func (s *Section) targets(r *rule, n *yaml.Node) error {
	name := r.id + ".to"
	items, err := s.list(name, n, targetForms)
	if err == nil && len(items) == 0 {
		err = s.fault(n, name+" names nothing", targetForms)
	}
	for _, i := range items {
		t, why := parseTarget(i.Value)
		if why != "" {
			return s.fault(i, why, targetForms)
		}
		if t.kind == anyTarget && len(items) > 1 {
			return s.fault(i, `"*" is everything: the others are in it`, `write "*" alone`)
		}
		if t.kind == serverTarget && s.ownLabels[t.server] && !strings.Contains(i.Value, ":") {
			t.kind = labelTarget
		}
		if t.glob {
			s.Labels[t.member()] = []string{t.member()}
		}
		if !slices.Contains(r.to, i.Value) {
			r.to, r.targets = append(r.to, i.Value), append(r.targets, t)
		}
	}
	return err
}

// addRule writes the policies of a rule.
func (s *Section) addRule(r *rule) error {
	if r.id == defaultID || strings.HasPrefix(r.id, defaultID+".") {
		return s.fault(r.Node, fmt.Sprintf("the id %q is that of default", r.id), "choose another one")
	}
	all := r.policies()
	if len(all) > maxPolicies {
		return s.fault(r.Node, fmt.Sprintf("%s would be more than %d policies", r.id, maxPolicies), "make a group of the principals, or a label of the targets")
	}
	for i := range all {
		all[i].id = r.id
		if len(all) > 1 {
			all[i].id += "." + strconv.Itoa(i+1)
		}
		if other := s.byID[all[i].id]; other != nil {
			return s.fault(r.Node, fmt.Sprintf("the id %q is that of the rule in line %d, too", all[i].id, other.Line), "choose another one")
		}
		s.byID[all[i].id] = r
		r.cedar = append(r.cedar, all[i].String())
	}
	s.byID[r.id] = r
	s.rules = append(s.rules, r)
	return nil
}

// policies returns what a rule becomes, without ids.
func (r *rule) policies() (all []cedarText) {
	p := cedarText{forbid: r.effect != "allow", actions: ruleActions(), when: r.bodies(), notes: r.notes()}
	if len(r.conditions) > 0 {
		p.actions = callActions() // nothing else has arguments
	}
	if r.effect == "limit" {
		// One policy, so that all of it is counted together.
		p.principal, p.when = scope(r.groups(), "principal", p.when)
		p.resource, p.when = scope(r.entities(), "resource", p.when)
		return []cedarText{p}
	}
	for _, group := range r.groups() {
		for _, what := range r.entities() {
			p.principal, _ = scope([]string{group}, "principal", nil)
			p.resource, _ = scope([]string{what}, "resource", nil)
			if !r.only {
				all = append(all, p)
				continue
			}
			// Only tools say whether they read.
			reading := p
			reading.actions, reading.when = callActions(), append([]string{"resource.readOnly"}, p.when...)
			all = append(all, reading)
			if len(r.conditions) == 0 {
				p := p
				p.actions = readActions()
				all = append(all, p)
			}
		}
		if len(all) > maxPolicies {
			break // addRule says so
		}
	}
	return all
}

// scope returns the scope of one entity, "" for all; several make a condition.
func scope(entities []string, name string, when []string) (string, []string) {
	switch {
	case len(entities) > 1:
		return "", append([]string{name + " in [" + strings.Join(entities, ", ") + "]"}, when...)
	case entities[0] == "":
		return "", when
	case name == "resource" && !strings.HasPrefix(entities[0], "Server::") && !strings.HasPrefix(entities[0], "Label::"):
		return "== " + entities[0], when
	}
	return "in " + entities[0], when
}

func (r *rule) groups() (all []string) {
	for _, w := range r.principals {
		if w == "*" {
			return []string{""}
		}
		all = append(all, "Group::"+quote(w))
	}
	return all
}

func (r *rule) entities() (all []string) {
	for _, t := range r.targets {
		all = append(all, t.entity())
	}
	return all
}

func (r *rule) notes() (all [][2]string) {
	if r.effect == "ask" {
		question := r.question
		if question == "" {
			question = "Allow {tool} of {server}?"
		}
		all = append(all, [2]string{"ask", question})
	}
	if r.over != "" {
		all = append(all, [2]string{"over", r.over})
	}
	if r.scopes != nil {
		all = append(all, [2]string{"scope", strings.Join(r.scopes, " ")})
	}
	if r.shadow {
		all = append(all, [2]string{"shadow", ""})
	}
	if r.unmatched {
		all = append(all, [2]string{"mayMatchNothing", ""})
	}
	if r.reason != "" {
		all = append(all, [2]string{"reason", r.reason})
	}
	return all
}

// bodies are the conditions in Cedar.
func (r *rule) bodies() (all []string) {
	for _, c := range r.conditions {
		all = append(all, c.cedar)
	}
	if len(r.after) > 0 {
		names := make([]string, len(r.after))
		for i, a := range r.after {
			names[i] = quote(a)
		}
		all = append(all, "context.seen.containsAll(["+strings.Join(names, ", ")+"])")
	}
	return all
}

// words returns the rule in its own words, on one line.
func (r *rule) words() string {
	all := []string{r.effect, strings.Join(r.principals, ", "), "to", strings.Join(r.to, ", ")}
	if r.only {
		all = append(all, "only", ReadOnly)
	}
	for i, c := range r.conditions {
		all = append(all, map[bool]string{true: "when", false: "and"}[i == 0], c.words)
	}
	if len(r.after) > 0 {
		all = append(all, "after", strings.Join(r.after, ", "))
	}
	if r.over != "" {
		all = append(all, "over", r.over)
	}
	if len(r.scopes) > 0 {
		all = append(all, "scope", strings.Join(r.scopes, " "))
	}
	if r.shadow {
		all = append(all, "shadow")
	}
	return strings.Join(all, " ")
}
