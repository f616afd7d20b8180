package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// changeReport is what changed since a package's lock file was written.
type changeReport struct {
	gogen.Counts
	List []gogen.Change `json:"list"`
}

// compareLocks returns the changes since the lock file in the directory, nil for
// none.
func compareLocks(old *gogen.Lock, out *gogen.Output, decimals bool) (*changeReport, error) {
	now, err := out.Lock()
	if err != nil {
		return nil, err
	}
	changes, err := gogen.Changes(old, now, decimals)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return &changeReport{Counts: gogen.CountChanges(changes), List: changes}, nil
}

func (r *changeReport) summary() string {
	return fmt.Sprintf("%d wire-breaking, %d source-breaking, %d compatible", r.Wire, r.Source, r.Compatible)
}

// maxGoLines is how many lines about Go code are printed per change without -v.
const maxGoLines = 3

// print writes a readable diff: the changes by class, the worst first, one per line,
// and below breaking ones the affected code. Changes of texts are counted, and with
// all listed.
func (r *changeReport) print(w io.Writer, all bool) error {
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
		fmt.Fprintf(&b, "  %s of texts alone (-v lists them)\n", plural(prose, "change"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printChanges prints the changes found by --check.
func (p *generatedPackage) printChanges(w io.Writer, all bool) error {
	if _, err := fmt.Fprintf(w, "\n%s since %s: %s\n", p.Server, ui.CleanLine(filepath.Join(p.Dir, gogen.LockFile)), p.Changes.summary()); err != nil {
		return err
	}
	return p.Changes.print(w, all)
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

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// noteChanges prints on stderr how many changes of each class a run made to an
// existing package, and which break.
func (c *generateCommand) noteChanges(g *generation, dir string) {
	r := g.answer.Changes
	if r == nil || c.ui.Quiet {
		return
	}
	c.ui.Note("%s: since %s was written: %s", g.server, filepath.Join(dir, gogen.LockFile), r.summary())
	for i := range r.List {
		if change := &r.List[i]; change.Class != gogen.Compatible || change.Notable {
			c.ui.Note("%s: %s", heading(change), change.String())
		}
	}
}
