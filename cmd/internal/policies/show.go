package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// shown is one policy in policy show --json.
type shown struct {
	ID     string `json:"id"`
	Effect string `json:"effect"`
	Shadow bool   `json:"shadow,omitempty"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	// Words is the rule that has become the policy.
	Words  string `json:"words,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Show prints the policies; cedar prints their text.
func (p *Command) Show(cedar bool) error {
	l, err := p.compiled()
	if err != nil {
		return err
	}
	if cedar {
		return p.showCedar(l)
	}
	all := []shown{}
	for _, of := range l.inOrder() {
		all = append(all, l.shown(of))
	}
	if p.UI.WantJSON() {
		out := struct {
			Access   bool                `json:"access"`
			Digest   string              `json:"digest,omitempty"`
			Groups   map[string][]string `json:"groups,omitempty"`
			Labels   map[string][]string `json:"labels,omitempty"`
			Policies []shown             `json:"policies"`
		}{l.Section != nil, l.set.Digest(), l.Config.Groups, l.Config.Labels, all}
		return p.UI.EncodeJSON(out)
	}
	if l.Section == nil {
		p.UI.Info("config.yaml has no section access: everything is allowed")
		return nil
	}
	if len(all) == 0 {
		p.UI.Info("there is no policy: everything is denied")
		return nil
	}
	return p.printShown(l, all)
}

// printShown prints policies for people, those of one rule as that rule.
func (p *Command) printShown(l *loaded, all []shown) error {
	var b strings.Builder
	c := p.UI.Palette()
	seen := map[string]bool{}
	for _, s := range all {
		id := s.ID
		if l.Section != nil && s.File == l.Path() {
			id = l.Section.RuleOf(s.ID)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		b.WriteString(c.Bold(ui.CleanLine(id)) + " (" + p.place(s.File, s.Line) + ")\n")
		for _, text := range []string{s.Words, s.Reason} {
			for _, line := range ui.Wrap("  "+ui.CleanLine(text), p.UI.Width()) {
				if text != "" {
					b.WriteString(line + "\n")
				}
			}
		}
	}
	_, err := p.UI.Out.Write([]byte(b.String()))
	return err
}

// inOrder returns the policies as they are written: those of config.yaml, then those of
// files.
func (l *loaded) inOrder() []*policy.Policy {
	all := l.set.Policies()
	order := map[string]int{}
	for i, s := range l.Config.Sources {
		if _, seen := order[s.Name]; !seen {
			order[s.Name] = i
		}
	}
	slices.SortStableFunc(all, func(a, b *policy.Policy) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line, a.Column-b.Column, strings.Compare(a.ID, b.ID))
	})
	return all
}

// showCedar prints the text of all policies, by where they are.
func (p *Command) showCedar(l *loaded) error {
	var b strings.Builder
	if l.Section != nil {
		for _, r := range l.Section.List(p.Settings.Serve.Access.Required()) {
			fmt.Fprintf(&b, "// %s: %s\n%s\n", p.place(l.Path(), r.Line), ui.CleanLine(r.Words), strings.Join(r.Cedar, "\n"))
		}
	}
	for _, s := range l.Config.Sources {
		if s.Name != l.Path() {
			fmt.Fprintf(&b, "// %s\n%s\n\n", p.shortFile(s.Name), strings.TrimSpace(ui.Clean(string(s.Text))))
		}
	}
	_, err := p.UI.Out.Write([]byte(strings.TrimRight(b.String(), "\n") + "\n"))
	return err
}
