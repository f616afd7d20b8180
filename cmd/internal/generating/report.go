package generating

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// Package is one package in the JSON answer of generate.
type Package struct {
	Server  string       `json:"server"`
	Package string       `json:"package"`
	Dir     string       `json:"dir"`
	Files   []OutputFile `json:"files"`
	Tools   int          `json:"tools"`
	// Changes are those since the lock file was written; nil is none, or no lock
	// file.
	Changes *ChangeReport `json:"changes,omitempty"`
	// Recorded are the fixtures of --record.
	Recorded []recordedFile `json:"recorded,omitempty"`
}

// maxWarnings is how many warnings are printed without -v.
const maxWarnings = 10

// warnGenerated prints on stderr what could not be typed, and what is missing.
func (r *run) warnGenerated(g *generation, m Module, standalone bool) {
	if r.UI.Quiet {
		return
	}
	say := func(text string) { fmt.Fprintln(r.UI.Err, "warning: "+ui.CleanLine(g.server+": "+text)) }
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
	if m.ImportPath == "" && !standalone {
		r.UI.Info("note: %s: no test double: %s; then the same command again", g.server, m.Why)
	}
	for i, w := range g.out.Warnings {
		if i == maxWarnings && !r.Verbose {
			say(fmt.Sprintf("%d more warnings; -v shows all", len(g.out.Warnings)-i))
			return
		}
		say(w.String())
	}
}

func (r *run) printGenerated(answers []Package, check bool) error {
	if r.UI.WantJSON() {
		return r.UI.EncodeJSON(map[string]any{"packages": answers})
	}
	for _, p := range answers {
		for _, file := range p.Files {
			if _, err := fmt.Fprintf(r.UI.Out, "%-9s  %s\n", file.Status, ui.CleanLine(file.Path)); err != nil {
				return err
			}
		}
		if check && p.Changes != nil {
			if _, err := fmt.Fprintf(r.UI.Out, "\n%s since %s: %s\n", p.Server, ui.CleanLine(filepath.Join(p.Dir, gogen.LockFile)), p.Changes.Summary()); err != nil {
				return err
			}
			if err := p.Changes.Print(r.UI.Out, r.Verbose); err != nil {
				return err
			}
		}
		for _, f := range p.Recorded {
			if _, err := fmt.Fprintf(r.UI.Out, "%-9s  %s  %s %s\n", "recorded", ui.CleanLine(f.Path), f.Method, ui.CleanLine(f.Target)); err != nil {
				return err
			}
		}
	}
	return nil
}

// driftError returns an error that names the files that --check found different.
func (r *run) driftError(answers []Package) error {
	var parts []string
	for _, p := range answers {
		for _, file := range p.Files {
			if file.Status != Unchanged {
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
	return &ui.Error{Kind: "drift", Err: errors.New("generated files differ: " + text), Remedy: "run the same command without --check"}
}

// ChangeReport is what changed between two states of a server.
type ChangeReport struct {
	gogen.Counts
	List []gogen.Change `json:"list"`
}

// compareLocks returns the changes since the lock file in the directory, nil for
// none.
func compareLocks(old *gogen.Lock, out *gogen.Output, decimals bool) (*ChangeReport, error) {
	now, err := out.Lock()
	if err != nil {
		return nil, err
	}
	return report(gogen.Changes(old, now, decimals))
}

// CompareTools returns the changes between two lists of tools, nil for none.
func CompareTools(old, now []runtime.Tool) (*ChangeReport, error) {
	state := func(tools []runtime.Tool) *gogen.Lock {
		return &gogen.Lock{List: gogen.List{Tools: tools, Names: &gogen.Names{}}}
	}
	return report(gogen.Changes(state(old), state(now), false))
}

func report(changes []gogen.Change, err error) (*ChangeReport, error) {
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return &ChangeReport{Counts: gogen.CountChanges(changes), List: changes}, nil
}

// Summary counts the changes by class.
func (r *ChangeReport) Summary() string {
	return fmt.Sprintf("%d wire-breaking, %d source-breaking, %d compatible", r.Wire, r.Source, r.Compatible)
}

// maxGoLines is how many lines about Go code are printed per change without -v.
const maxGoLines = 3

// Print writes a readable diff: the changes by class, the worst first, one per line,
// and below breaking ones the affected code. Changes of texts are counted, and with
// all listed.
func (r *ChangeReport) Print(w io.Writer, all bool) error {
	var b strings.Builder
	title, prose := "", 0
	for i := range r.List {
		c := &r.List[i]
		if c.Prose() && !all {
			prose++
			continue
		}
		if t := heading(c); t != title {
			title = t
			b.WriteString(title + ":\n")
		}
		b.WriteString("  " + ui.CleanLine(c.String()) + "\n")
		for n, line := range c.Go {
			if n == maxGoLines && !all && len(c.Go) > maxGoLines+1 {
				fmt.Fprintf(&b, "      and %d more\n", len(c.Go)-n)
				break
			}
			b.WriteString("      Go: " + ui.CleanLine(line) + "\n")
		}
	}
	if prose > 0 {
		if title != string(gogen.Compatible) {
			b.WriteString(string(gogen.Compatible) + ":\n")
		}
		word := map[bool]string{true: "change", false: "changes"}[prose == 1]
		fmt.Fprintf(&b, "  %d %s of texts alone (-v lists them)\n", prose, word)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// heading returns the class that a change is listed under.
func heading(c *gogen.Change) string {
	switch {
	case c.Wire && c.Source:
		return "wire-breaking and source-breaking"
	case c.Notable:
		return "compatible, and worth a look"
	}
	return string(c.Class)
}

// noteChanges prints on stderr how many changes of each class a run made to an
// existing package, and which break.
func (r *run) noteChanges(g *generation, dir string) {
	changes := g.answer.Changes
	if changes == nil || r.UI.Quiet {
		return
	}
	r.UI.Info("%s: since %s was written: %s", g.server, filepath.Join(dir, gogen.LockFile), changes.Summary())
	for i := range changes.List {
		if change := &changes.List[i]; change.Class != gogen.Compatible || change.Notable {
			r.UI.Info("%s: %s", heading(change), change.String())
		}
	}
}
