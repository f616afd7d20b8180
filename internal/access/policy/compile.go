package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// maxSource bounds the text of a source, in bytes: its parser calls itself.
const maxSource = 256 << 10

// rule is a policy and how it is evaluated.
type rule struct {
	*Policy
	// index is its place in the Set.
	index int
	// syntax is the policy with one condition at most; plain is it as it is written.
	syntax *syntax
	plain  *cedar.Policy
	reads  reads
}

// Compile returns the policies of a configuration. Its error is a *Problem.
func Compile(c Config) (*Set, error) {
	s := &Set{
		groups: c.Groups, fromAnnotations: c.FromAnnotations, plain: c.Plain,
		labels: make(map[string][]glob), scopes: make(map[string]bool), marks: make(map[string]bool),
		named: make(map[types.EntityUID]bool),
	}
	seen := make(map[string]*Policy)
	for i := range c.Sources {
		rules, err := c.Sources[i].parse()
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			if other := seen[r.ID]; other != nil {
				return nil, r.problem("another policy has the id %s: that at %s:%d", r.ID, other.File, other.Line)
			}
			seen[r.ID] = r.Policy
			s.add(r)
		}
	}
	slices.SortFunc(s.rules, func(a, b *rule) int { return strings.Compare(a.ID, b.ID) })
	for i, r := range s.rules {
		r.index = i
	}
	for name, globs := range c.Labels {
		s.labels[name] = nil
		for _, g := range globs {
			s.labels[name] = append(s.labels[name], parseGlob(g))
		}
	}
	s.reads.whole = s.reads.whole || c.Plain
	text, err := json.Marshal(c)
	if err != nil {
		return nil, &Problem{Text: err.Error()} // there is nothing in it that has no JSON
	}
	sum := sha256.Sum256(text)
	s.digest = "sha256:" + hex.EncodeToString(sum[:])
	return s, nil
}

// add adds a rule and what it reads.
func (s *Set) add(r *rule) {
	s.rules = append(s.rules, r)
	p := &r.reads.principal
	s.reads.whole = s.reads.whole || p.whole
	for _, m := range []struct{ to, from *map[string]bool }{
		{&s.reads.attrs, &p.attrs}, {&s.reads.tags, &p.tags}, {&s.reads.ids, &p.ids}, {&s.reads.groups, &p.groups},
	} {
		for name := range *m.from {
			s.reads.add(m.to, name)
		}
	}
	for _, scope := range r.Scopes {
		s.scopes[scope] = true
	}
	for _, label := range r.reads.labels {
		s.marks[label] = true
	}
	s.allMarks = s.allMarks || r.reads.allLabels
	for _, uid := range r.reads.items {
		s.named[uid] = true
	}
	for _, label := range r.reads.globs {
		s.labels[label] = []glob{parseGlob(label)}
	}
}

func (p *Policy) problem(format string, a ...any) *Problem {
	text := fmt.Sprintf(format, a...)
	if p.ID != "" {
		text = "policy " + p.ID + ": " + text
	}
	return &Problem{File: p.File, Line: p.Line, Column: p.Column, Text: text}
}

// place is where a parser says that it has met something wrong.
var place = lazy.Regexp(`^(?:parser error: )?(?:parse error at )?(?:[^ :]*:)?(\d+):(\d+):? ?`)

// parse returns the policies of a source.
func (src *Source) parse() ([]*rule, error) {
	if len(src.Text) > maxSource {
		return nil, &Problem{File: src.Name, Text: fmt.Sprintf("the text is longer than %d KiB", maxSource>>10)}
	}
	list, err := cedar.NewPolicyListFromBytes(src.Name, src.Text)
	if err != nil {
		text := err.Error()
		p := &Problem{File: src.Name}
		if at := place().FindStringSubmatch(text); at != nil {
			p.Line, _ = strconv.Atoi(at[1])
			p.Column, _ = strconv.Atoi(at[2])
			p.Line += src.Line
			text = text[len(at[0]):]
		}
		p.Text = strings.TrimPrefix(text, "parser error: ")
		return nil, p
	}
	rules := make([]*rule, len(list))
	for i, c := range list {
		if rules[i], err = newRule(src, c); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// newRule returns the rule of a policy.
func newRule(src *Source, c *cedar.Policy) (*rule, error) {
	at := c.Position()
	p := &Policy{File: src.Name, Line: src.Line + at.Line, Column: at.Column, Permit: c.Effect() == cedar.Permit}
	r := &rule{Policy: p, plain: c, syntax: joined(syntaxOf(c))}
	notes := c.Annotations()
	p.ID = string(notes["id"])
	if p.ID == "" {
		return nil, p.problem(`it needs an id: @id("NAME")`)
	}
	for _, key := range slices.Sorted(maps.Keys(notes)) {
		if text := p.annotate(string(key), string(notes[key])); text != "" {
			return nil, p.problem("%s", text)
		}
	}
	if p.Limit != nil && p.Question != "" {
		return nil, p.problem("it has @ask and @over: write two policies")
	}
	var text string
	if r.reads, text = readsOf(r.syntax); text != "" {
		return nil, p.problem("%s", text)
	}
	return r, nil
}

// annotate takes an annotation over, and returns what is wrong with it.
func (p *Policy) annotate(key, value string) string {
	switch key {
	case "id":
		return ""
	case "reason":
		p.Reason = value
		return ""
	case "shadow":
		p.Shadow = true
		if value != "" {
			return "@shadow has no value"
		}
		return ""
	case "mayMatchNothing":
		p.MayMatchNothing = true
		if value != "" {
			return "@mayMatchNothing has no value"
		}
		return ""
	case "scope":
		p.Scopes = strings.Fields(value)
		switch {
		case !p.Permit:
			return "@scope is for permits"
		case len(p.Scopes) == 0:
			return `@scope needs scopes: @scope("gh.write")`
		}
		return ""
	case "ask":
		return p.ask(value)
	case "over":
		return p.over(value)
	}
	text := "there is no annotation @" + key
	if best := plain.Nearest(key, []string{"id", "reason", "scope", "ask", "over", "shadow", "mayMatchNothing"}, 1); len(best) > 0 {
		text += ": did you mean @" + best[0] + "?"
	}
	return text
}

var placeholder = lazy.Regexp(`\{[^{}]*\}`)

func (p *Policy) ask(value string) string {
	if p.Permit {
		return "@ask is for forbids"
	}
	p.Question, p.PerFlow = strings.CutSuffix(value, " per flow")
	p.Question = strings.Trim(p.Question, " \"")
	if p.Question == "" {
		return `@ask needs a question: @ask("Send {tool} to {server}?")`
	}
	for _, name := range placeholder().FindAllString(p.Question, -1) {
		if name != "{tool}" && name != "{server}" && name != "{prompt}" {
			return "@ask has no " + name + ": there are {tool}, {server}, {prompt}"
		}
	}
	return ""
}

const overForm = `@over is written as "60/m", "60/m burst 10", "60/m per principal, tool"`

// overUnit returns what a unit of @over is, 0 for none.
func overUnit(name string) time.Duration {
	switch name {
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	}
	return 0
}

func (p *Policy) over(value string) string {
	if p.Permit {
		return "@over is for forbids"
	}
	words := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
	if len(words) == 0 {
		return overForm
	}
	count, unit, _ := strings.Cut(words[0], "/")
	n, err := strconv.Atoi(count)
	every := overUnit(unit)
	if err != nil || n < 1 || n > 1e9 || every == 0 {
		return overForm
	}
	l := &Limit{N: n, Every: every, Burst: n}
	for words = words[1:]; len(words) > 0; {
		switch {
		case words[0] == "burst" && len(words) > 1:
			if l.Burst, err = strconv.Atoi(words[1]); err != nil || l.Burst < 1 {
				return overForm
			}
			words = words[2:]
		case words[0] == "per" && l.Per == nil:
			for words = words[1:]; len(words) > 0 && slices.Contains([]string{"principal", "group", "server", "tool", "flow"}, words[0]); words = words[1:] {
				l.Per = append(l.Per, words[0])
			}
			if l.Per == nil {
				return overForm
			}
		default:
			return overForm
		}
	}
	p.Limit = l
	return ""
}
