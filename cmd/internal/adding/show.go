package adding

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// show prints what became of one entry.
func (u *Updater) show(r *result) error {
	if u.UI.WantJSON() {
		return nil
	}
	var b strings.Builder
	line := r.Name + ": "
	switch r.State {
	case stateCurrent:
		line += r.From + " is the newest version"
	case stateNewer:
		line += r.From + " -> " + r.To + r.when()
	case stateUpdated:
		line = "updated " + line + r.From + " -> " + r.To
	case stateDeclined:
		line += "not updated"
	case stateSkipped:
		line += "skipped: " + r.Reason
	case stateFailed:
		line += "failed: " + r.Reason
	}
	b.WriteString(ui.CleanLine(line) + "\n")
	if u.Options.DryRun && r.State == stateNewer || u.Options.Yes && r.State == stateUpdated {
		u.showPlan(&b, r)
		u.showTools(&b, r)
	} else if r.State == stateNewer || r.State == stateCurrent {
		r.writeWarnings(&b)
	}
	if p := r.Package; p != nil {
		fmt.Fprintf(&b, "  %s has %s %s, which is newer than %s of the newest record\n", packageRegistry(p.Type), ui.CleanLine(p.Name), ui.CleanLine(p.Latest), ui.CleanLine(p.Version))
	}
	if _, err := io.WriteString(u.UI.Out, b.String()); err != nil {
		return err
	}
	if r.State == stateUpdated {
		u.NoteRequired(r.Required)
	}
	return nil
}

// when returns when the newer version was published.
func (r *result) when() string {
	day, _, _ := strings.Cut(r.do.now.Meta.PublishedAt, "T")
	if day == "" {
		return ""
	}
	return ", published " + day
}

func packageRegistry(kind string) string {
	switch kind {
	case "npm":
		return "npm"
	case "pypi":
		return "PyPI"
	}
	return "the image's registry"
}

// showPlan writes what would change of the entry.
func (u *Updater) showPlan(w io.Writer, r *result) {
	var b strings.Builder
	if w == u.UI.Err {
		b.WriteString(ui.CleanLine(r.Name+": "+r.From+" -> "+r.To+r.when()) + "\n")
	}
	b.WriteString(diff(r.do.up.Mask(r.do.entry.Raw), r.Entry))
	for _, c := range r.Conflicts {
		b.WriteString("conflict: " + ui.CleanLine(c.String()) + "\n")
	}
	for _, q := range r.Required {
		b.WriteString("new: " + ui.CleanLine(strings.TrimSuffix("${"+q.Name+"}: "+q.Description, ": ")) + "\n")
	}
	r.writeWarnings(&b)
	_, _ = io.WriteString(w, b.String())
}

func (r *result) writeWarnings(b *strings.Builder) {
	for _, w := range r.Warnings {
		b.WriteString("warning: " + ui.CleanLine(w) + "\n")
	}
}

// showTools writes what would change of the tools.
func (u *Updater) showTools(w io.Writer, r *result) {
	t := r.Tools
	switch {
	case t == nil:
		return
	case t.Report != nil:
		_, _ = fmt.Fprintf(w, "tools: %s\n", t.Report.Summary())
		_ = t.Report.Print(w, false)
	case t.Same:
		_, _ = fmt.Fprintf(w, "tools: the same %d\n", t.Count)
	case t.Count > 0:
		_, _ = fmt.Fprintf(w, "tools: %d; %s\n", t.Count, ui.CleanLine(t.Reason))
	default:
		_, _ = fmt.Fprintf(w, "tools: not compared: %s\n", ui.CleanLine(t.Reason))
	}
}

// String returns a conflict in one line.
func (c conflict) String() string {
	text := func(raw json.RawMessage) string {
		if raw == nil {
			return "nothing"
		}
		return string(raw)
	}
	which := "yours is kept; --theirs takes the registry's"
	if c.Preferred == "theirs" {
		which = "the registry's is taken"
	}
	return fmt.Sprintf("%s: yours %s, the registry's %s; %s", c.Path, text(c.Yours), text(c.Theirs), which)
}

// maskPart masks a part of an entry at a path.
func maskPart(up *upgrade.Upgrade, path []string, part json.RawMessage) json.RawMessage {
	if part == nil {
		return nil
	}
	whole := part
	for _, step := range slices.Backward(path) {
		name, _ := json.Marshal(step)
		whole = append(append(append([]byte{'{'}, name...), ':'), append(whole, '}')...)
	}
	masked := up.Mask(whole)
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(masked, &members) != nil {
			return nil
		}
		masked = members[name]
	}
	return masked
}

// diff returns the lines of two entries: those that are gone behind "- ", new ones behind
// "+ ".
func diff(old, now json.RawMessage) string {
	before, after := entryLines(old), entryLines(now)
	var b strings.Builder
	at := 0
	write := func(sign string, lines []string) {
		for _, line := range lines {
			b.WriteString(strings.TrimRight(sign+line, " ") + "\n")
		}
	}
	for _, h := range upgrade.Hunks(before, after) {
		write("  ", before[at:h.Start])
		write("- ", before[h.Start:h.End])
		write("+ ", h.New)
		at = h.End
	}
	write("  ", before[at:])
	return b.String()
}

func entryLines(entry json.RawMessage) []string {
	return strings.Split(ui.Clean(config.Format(entry)), "\n")
}
