package adding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// addResult is what add prints as JSON.
type addResult struct {
	Alias        string                 `json:"alias"`
	Entry        json.RawMessage        `json:"entry"`
	Required     []scaffold.Requirement `json:"required"`
	Optional     []scaffold.Option      `json:"optional"`
	Warnings     []string               `json:"warnings"`
	Origin       *config.Origin         `json:"origin"`
	Alternatives []scaffold.Alternative `json:"alternatives,omitempty"`
	Start        []string               `json:"start,omitempty"`
	StartEnv     []string               `json:"startEnv,omitempty"`
	Install      []string               `json:"install,omitempty"`
}

// announce prints what was added on standard output, and what is left to do on
// standard error.
func (c *Adder) announce(add *addition) error {
	p := add.plan
	if err := c.printAddition(add); err != nil {
		return err
	}
	c.NoteRequired(slices.DeleteFunc(slices.Clone(p.Required), func(r scaffold.Requirement) bool {
		_, set := c.lookup(r.Name)
		return add.byHand && set
	}))
	if p.Install != nil {
		c.UI.Info("install it first: %s", clitool.Line(p.Install))
	}
	if p.Start != nil {
		c.UI.Info("the entry is an address; start the server first: %s", StartLine(p))
		c.NoteRequired(p.StartRequired)
	}
	c.noteOptional(p.Optional)
	for _, alt := range p.Alternatives {
		c.UI.Info("or %s: %s %s", alt.Flag, alt.Type, alt.Reference)
	}
	if !add.shown {
		for _, w := range p.Warnings {
			c.UI.Info("warning: %s", w)
		}
	}
	if add.try != nil && !c.Options.DryRun {
		c.UI.Info("try: mcpctl %s", clitool.Line(append([]string{p.Alias}, add.try...)))
	}
	return nil
}

func (c *Adder) printAddition(add *addition) error {
	p := add.plan
	if c.UI.WantJSON() {
		return c.UI.EncodeJSON(addResult{
			p.Alias, c.shown(add), NonNil(p.Required), NonNil(p.Optional), NonNil(p.Warnings), originOrNil(p.Origin),
			p.Alternatives, p.Start, p.StartEnv, p.Install,
		})
	}
	verb := "added"
	if c.Options.DryRun {
		verb = "would add"
	}
	text := fmt.Sprintf("%s %s: %s\n", verb, p.Alias, ui.CleanLine(add.title))
	if !add.shown {
		text += ui.Clean(config.Format(c.shown(add))) + "\n"
	}
	_, err := io.WriteString(c.UI.Out, text)
	return err
}

// shown returns the entry for display, without secrets given by the user. Text of a
// record is public.
func (c *Adder) shown(add *addition) json.RawMessage {
	if add.byHand {
		return config.MaskEntry(add.plan.Entry)
	}
	entry := add.plan.Entry
	var given []secret.Text
	for _, list := range [][]scaffold.InputValue{c.Options.Env, c.Options.Args, c.Options.Vars, c.Options.Headers} {
		for _, g := range list {
			if secret.LooksName(g.Name) || secret.LooksText(g.Value) {
				given = append(given, secret.New(g.Value))
				if whole, err := plain.JSON(g.Value); err == nil && g.Value != "" { // of any length
					entry = bytes.ReplaceAll(entry, whole, []byte(`"`+secret.Redacted+`"`))
				}
			}
		}
	}
	return secret.NewRedactor(given...).JSON(entry)
}

// NoteRequired lists the variables to export; those that are set are marked.
func (h *Host) NoteRequired(list []scaffold.Requirement) {
	if len(list) == 0 {
		return
	}
	h.UI.Info("export before use:")
	width := 0
	for _, r := range list {
		width = max(width, len(r.Name))
	}
	for _, r := range list {
		var marks []string
		if _, set := h.lookup(r.Name); set {
			marks = append(marks, "already set")
		}
		if r.Secret {
			marks = append(marks, "secret")
		}
		if len(r.Choices) > 0 {
			marks = append(marks, "one of "+strings.Join(r.Choices, ", "))
		}
		if r.Example != "" {
			marks = append(marks, "such as "+r.Example)
		}
		line := r.Name
		if len(marks) > 0 {
			line += " (" + strings.Join(marks, "; ") + ")"
		}
		if r.Description != "" {
			line += ": " + r.Description
		}
		h.UI.Info("  %s", line)
	}
}

// shownOptions is how many optional inputs are named; more are counted.
const shownOptions = 10

func (c *Adder) noteOptional(list []scaffold.Option) {
	if len(list) == 0 {
		return
	}
	names := make([]string, 0, shownOptions)
	for _, o := range list[:min(len(list), shownOptions)] {
		names = append(names, strings.TrimSuffix(o.Flag(), "=VALUE"))
	}
	more := ""
	if n := len(list) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	c.UI.Info("optional: %s%s", strings.Join(names, ", "), more)
}

// originOrNil returns an entry's origin for JSON, nil if it has none.
func originOrNil(o config.Origin) *config.Origin {
	if o.Registry == "" {
		return nil
	}
	return &o
}
