package clitool

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/internal/clihelp"
)

// Offer is what callers see of a tool.
type Offer struct {
	// Unsure are the names of tools whose arguments the help does not tell: they take any
	// words. Unread are commands that are not offered, as they have more words than were
	// read.
	Unsure, Unread []string
	// Try is a first call: the name of a tool and its required arguments, nil where no tool
	// is offered.
	Try []string
}

// OfferOf returns what callers see of what was found. A rule that fits no command is a
// [*RuleError].
func OfferOf(p Program, found *Found, e Exposure) (Offer, error) {
	commands, err := selectCommands(p.base(), &found.Root, e)
	if err != nil {
		return Offer{}, err
	}
	b := &builder{program: &p, found: found, exposed: e}
	tools, err := b.tools(commands)
	if err != nil {
		return Offer{}, err
	}
	var o Offer
	var best *tool
	for _, t := range tools {
		if t.Unsure {
			o.Unsure = append(o.Unsure, t.name)
		}
		if best == nil || t.effort(p.base()) < best.effort(p.base()) {
			best = t
		}
	}
	if best != nil {
		o.Try = best.words()
	}
	walk(&found.Root, func(c *clihelp.Command) {
		if c.Unread {
			o.Unread = append(o.Unread, strings.Join(c.Path, " "))
		}
	})
	return o, nil
}

// NotExposed returns the commands of which a list of tools says that they are not exposed.
func NotExposed(list json.RawMessage) []string {
	if !bytes.Contains(list, []byte(metaNotExposed)) {
		return nil
	}
	var l struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var names []string
	if json.Unmarshal(list, &l) != nil || json.Unmarshal(l.Meta[metaNotExposed], &names) != nil {
		return nil // of another shape: a server may have the member for something else
	}
	return names
}

// notExposed returns the commands of a tool that rules keep back; commands are the others.
func notExposed(tool string, found *Found, commands []selected) []string {
	var names []string
	for _, c := range choices(&found.Root, commands) {
		if c.Words == "*" {
			c.Words = tool
		}
		if !c.Exposed {
			names = append(names, c.Words)
		}
	}
	return names
}

// effort orders tools by how easy a first call of one is: one that reads comes first, then
// one with few required arguments.
func (t *tool) effort(program string) int {
	n := len(t.words())
	if t.Unsure {
		n++
	}
	if !reads(program, t.Command) {
		n += 100
	}
	return n
}

// words returns a call of the tool as it is written on the command line of mcpctl.
func (t *tool) words() []string {
	out := []string{t.name}
	for _, p := range t.params {
		switch {
		case p.arg != nil && p.arg.Required && p.arg.Repeated:
			out = append(out, p.name+`:=["TEXT"]`)
		case p.arg != nil && p.arg.Required, p.flag != nil && p.flag.Required:
			out = append(out, p.name+"=TEXT")
		}
	}
	return out
}
