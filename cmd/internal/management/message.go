package management

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/plain"
)

const (
	// maxMessage bounds what a person is asked to read. An entry beyond it is refused.
	maxMessage = 4000
	// maxShown bounds what is shown of an entry that goes.
	maxShown = 300
)

// message returns the question whether an entry is added: all of the entry, and nothing
// that strangers could use to persuade, such as titles and descriptions.
func (s *server) message(p adding.Proposal) (string, error) {
	var b strings.Builder
	b.WriteString("An agent asks to add an MCP server to mcpctl.\n\n")
	line := func(name, text string) { fmt.Fprintf(&b, "%s: %s\n", name, code(text)) }
	line("Name", p.Plan.Alias)
	if o := p.Plan.Origin; o.Name != "" {
		line("From the registry", plain.Line(o.Name+" "+o.Version+", "+o.Registry))
	}
	if err := describe(p.Plan.Entry, line); err != nil {
		return "", err
	}
	for _, r := range p.Plan.Required {
		title := "Takes from the environment"
		if r.Secret {
			title += ", a secret"
		}
		line(title, plain.Line(r.Name))
	}
	if p.Before != nil {
		line("REPLACES", plain.Clip(plain.Line(p.Before.Target()), maxShown))
	}
	for _, w := range p.Plan.Warnings {
		line("Warning", plain.Clip(plain.Line(w), maxShown))
	}
	b.WriteString("File: " + code(plain.Line(s.o.ConfigPath)))
	if b.Len() > maxMessage {
		return "", fmt.Errorf("it has more than %d characters", maxMessage)
	}
	return b.String(), nil
}

// code returns a text as Markdown has code: a host that shows Markdown shows it as it is, and
// in every other it ends where it ends.
func code(text string) string {
	fence, space := "`", ""
	for strings.Contains(text, fence) {
		fence, space = fence+"`", " "
	}
	return fence + space + text + space + fence
}

// describe calls line for each member of an entry, none left out.
func describe(entry json.RawMessage, line func(name, text string)) error {
	members := map[string]json.RawMessage{}
	var known struct {
		Command, URL, Cwd string
		Args              []string
		Env, Headers      map[string]string
	}
	if err := errors.Join(json.Unmarshal(entry, &members), json.Unmarshal(entry, &known)); err != nil {
		return err
	}
	for _, text := range slices.Concat([]string{known.Command, known.URL, known.Cwd}, known.Args) {
		if err := readable("the command line or the address", text); err != nil {
			return err
		}
	}
	if known.Command != "" {
		line("Runs", clitool.Line(append([]string{known.Command}, known.Args...)))
	}
	if known.URL != "" {
		line("Contacts", known.URL)
	}
	if known.Cwd != "" {
		line("In the directory", known.Cwd)
	}
	for _, list := range []struct {
		title  string
		values map[string]string
	}{{"Environment", known.Env}, {"Header", known.Headers}} {
		for _, name := range slices.Sorted(maps.Keys(list.values)) {
			text := name + "=" + list.values[name]
			if err := readable(list.title, text); err != nil {
				return err
			}
			line(list.title, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains([]string{"command", "args", "url", "cwd", "env", "headers", "origin"}, name) {
			continue
		}
		text := string(members[name])
		if err := readable(name, text); err != nil {
			return err
		}
		line(plain.Line(name), text)
	}
	return nil
}
