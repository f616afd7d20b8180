package policies

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
)

// NewRule is a rule for config.yaml, with its members in the order in which they are written.
type NewRule struct {
	ID     string `json:"id,omitempty"`
	Allow  Words  `json:"allow,omitempty"`
	Deny   Words  `json:"deny,omitempty"`
	To     Words  `json:"to"`
	Only   string `json:"only,omitempty"`
	Reason string `json:"reason,omitempty"`
	// MayMatchNothing lets it name what does not exist.
	MayMatchNothing bool `json:"mayMatchNothing,omitempty"`
}

// Words are one text, or a list of them.
type Words []string

// MarshalJSON implements [json.Marshaler].
func (w Words) MarshalJSON() ([]byte, error) {
	if len(w) == 1 {
		return json.Marshal(w[0])
	}
	return json.Marshal([]string(w))
}

// Editor edits config.yaml; a text that is not valid is refused.
type Editor func(edit func(before []byte) ([]byte, error)) error

// Add writes a rule behind the others and prints it. One that denies and names what nearly exists
// is not written: it was meant for that, and would protect nothing. What else it names that does not exist is a warning.
func (p *Command) Add(ctx context.Context, r *NewRule, edit Editor) error {
	known := p.Unmatched(ctx)
	var doubts []settings.Unmatched
	err := edit(func(text []byte) ([]byte, error) {
		after, err := configedit.AppendYAML(text, r, "access", "rules")
		if err != nil {
			return nil, err
		}
		next := *p
		next.text = after
		doubts = slices.DeleteFunc(next.Unmatched(ctx), func(u settings.Unmatched) bool {
			return slices.ContainsFunc(known, func(k settings.Unmatched) bool { return k.Policy.ID == u.Policy.ID && k.Message == u.Message })
		})
		for i := range doubts {
			if r.Deny != nil && strings.HasPrefix(doubts[i].Hint, "did you mean") {
				return nil, notWritten(&doubts[i])
			}
		}
		return after, nil
	})
	if err != nil {
		return err
	}
	if err := p.showLast(); err != nil {
		return err
	}
	for i := range doubts {
		p.UI.Info("warning: %s; %s", doubts[i].Message, doubts[i].Hint)
	}
	return nil
}

// notWritten is the error of a rule that would protect nothing.
func notWritten(u *settings.Unmatched) error {
	hint := u.Hint
	if !strings.HasSuffix(hint, "?") {
		hint += ";"
	}
	return ui.Usage("%s: nothing was written", u.Message).WithHint("%s if the name is right, add --force", hint)
}

// showLast prints the last rule of config.yaml.
func (p *Command) showLast() error {
	l, err := p.compiled()
	if err != nil {
		return err
	}
	rules := l.Section.List(p.Settings.Serve.Access.Required())
	last := rules[len(rules)-1].ID
	all := []shown{}
	for _, of := range l.inOrder() {
		if of.File == l.Path() && l.Section.RuleOf(of.ID) == last {
			all = append(all, l.shown(of))
		}
	}
	if p.UI.WantJSON() {
		return p.UI.EncodeJSON(map[string]any{"rule": last, "policies": all})
	}
	if err := p.printShown(l, all); err != nil {
		return err
	}
	if l.Section.Default == "" && !p.Settings.Serve.Access.Required() {
		p.UI.Info("note: what no rule denies is allowed; mcpctl access default deny turns that round")
	}
	return nil
}
