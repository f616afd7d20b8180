package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// generatedPackage is one package in the JSON answer of generate.
type generatedPackage struct {
	Server  string          `json:"server"`
	Package string          `json:"package"`
	Dir     string          `json:"dir"`
	Files   []generatedFile `json:"files"`
	Tools   int             `json:"tools"`
	// Changes are those since the lock file was written; nil is none, or no lock
	// file.
	Changes *changeReport `json:"changes,omitempty"`
	// Recorded are the fixtures of --record.
	Recorded []recordedFile `json:"recorded,omitempty"`
}

// maxWarnings is how many warnings are printed without -v.
const maxWarnings = 10

// warnGenerated prints on stderr what could not be typed, and what is missing.
func (c *generateCommand) warnGenerated(g *generation, m modulePlace) {
	if c.ui.Quiet {
		return
	}
	say := func(text string) { fmt.Fprintln(c.ui.Err, "warning: "+ui.CleanLine(g.server+": "+text)) }
	if g.list.More {
		say("the file is one page of several (it has a nextCursor); tools on the others are missing")
	}
	switch l := g.list; {
	case g.out.Tools > 0:
	case len(l.Prompts)+len(l.Resources)+len(l.Templates) > 0:
		say("there are no tools, prompts and resources only")
	default:
		say("there are no tools; the client has no methods but lists")
	}
	if m.importPath == "" && !g.standalone {
		c.ui.Note("note: %s: no test double: %s; then the same command again", g.server, m.why)
	}
	for i, w := range g.out.Warnings {
		if i == maxWarnings && c.settings.Verbose == 0 {
			say(fmt.Sprintf("%d more warnings; -v shows all", len(g.out.Warnings)-i))
			return
		}
		say(w.String())
	}
}

func (c *generateCommand) printGenerated(answers []generatedPackage, check bool) error {
	if c.ui.WantJSON() {
		return c.ui.EncodeJSON(map[string]any{"packages": answers})
	}
	for _, p := range answers {
		for _, file := range p.Files {
			if _, err := fmt.Fprintf(c.ui.Out, "%-9s  %s\n", file.Status, ui.CleanLine(file.Path)); err != nil {
				return err
			}
		}
		if check && p.Changes != nil {
			if err := p.printChanges(c.ui.Out, c.settings.Verbose > 0); err != nil {
				return err
			}
		}
		for _, r := range p.Recorded {
			if _, err := fmt.Fprintf(c.ui.Out, "%-9s  %s  %s %s\n", "recorded", ui.CleanLine(r.Path), r.Method, ui.CleanLine(r.Target)); err != nil {
				return err
			}
		}
	}
	return nil
}

// driftError returns an error that names the files that --check found different.
func (c *generateCommand) driftError(answers []generatedPackage) error {
	var parts []string
	for _, p := range answers {
		for _, file := range p.Files {
			if file.Status != statusUnchanged {
				parts = append(parts, file.Path+" ("+file.Status+")")
			}
		}
	}
	slices.Sort(parts)
	const most = 8
	text := strings.Join(parts[:min(len(parts), most)], ", ")
	if len(parts) > most {
		text += fmt.Sprintf(" and %d more", len(parts)-most)
	}
	e := &Error{Code: exitDrift, Err: errors.New("generated files differ: " + text)}
	return e.withHint("run the same command without --check")
}
