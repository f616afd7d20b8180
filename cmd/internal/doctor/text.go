package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// Text is a result for people.
type Text struct {
	Result *Result
	// Width is that of the terminal, 0 for none: messages are wrapped to it. Names and
	// commands, which are copied, are never cut.
	Width int
	Color bool
	// All shows every check, also where a server is well.
	All bool
}

// String returns the lines.
func (t Text) String() string {
	var b strings.Builder
	for _, r := range t.Result.Files {
		if t.All || r.level() != levelOK {
			t.report(&b, r)
		}
	}
	for _, r := range t.Result.Servers {
		t.report(&b, r)
	}
	ok, warned, failed := t.Result.counts()
	if len(t.Result.Servers) != 1 {
		fmt.Fprintf(&b, "\n%s: %d ok, %d with warnings, %d with errors\n", plain.Count(len(t.Result.Servers), "server"), ok, warned, failed)
	}
	return b.String()
}

// report writes one server or file: a line, and below it its findings.
func (t Text) report(b *strings.Builder, r *Report) {
	head := t.level(r.level()) + "  " + ui.CleanLine(r.Name)
	if s := r.summary(); s != "" && r.level() != levelError {
		t.wrap(b, head+"  ", s, len(levelWarning)+2+text.StringWidth(ui.CleanLine(r.Name))+2)
	} else {
		b.WriteString(head + "\n")
	}
	for _, c := range r.Checks {
		if level := c.level(); t.All || level != levelOK {
			const indent = 2
			label := fmt.Sprintf("%s  %-9s  ", t.level(level), c.ID)
			t.wrap(b, strings.Repeat(" ", indent)+label, c.Message, indent+len(levelWarning)+2+9+2)
			t.fix(b, c.Fix)
		}
	}
}

// fix writes a command on a line of its own, and below it what is remarked of it.
func (t Text) fix(b *strings.Builder, fix string) {
	command, remark, _ := strings.Cut(fix, remarkSign)
	if command != "" {
		b.WriteString("    fix: " + ui.CleanLine(command) + "\n")
	}
	if remark != "" {
		const indent = "         "
		t.wrap(b, indent, remark, len(indent))
	}
}

// level returns a level in a column of its own.
func (t Text) level(level string) string {
	padded := fmt.Sprintf("%-*s", len(levelWarning), level)
	paint := map[string]func(string) string{
		levelOK: ui.Palette(t.Color).Green, levelWarning: ui.Palette(t.Color).Yellow, levelError: ui.Palette(t.Color).Red,
	}[level]
	return paint(padded)
}

// leastMessage is the least width that a message is wrapped to: a narrower terminal
// breaks lines itself.
const leastMessage = 20

// wrap writes a message behind what stands before it, which is indent wide, over as many
// lines as it needs.
func (t Text) wrap(b *strings.Builder, before, message string, indent int) {
	lines := []string{ui.CleanLine(message)}
	if space := t.Width - indent; space >= leastMessage {
		lines = ui.Wrap(lines[0], space)
	}
	for i, line := range lines {
		if i > 0 {
			before = strings.Repeat(" ", indent)
		}
		b.WriteString(strings.TrimRight(before+line, " ") + "\n")
	}
}

// summary says what a server that works is like.
func (r *Report) summary() string {
	var parts []string
	for _, id := range []string{"tools", "era", "config", "mode"} {
		i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.ID == id && c.level() == levelOK })
		if i >= 0 {
			parts = append(parts, r.Checks[i].Message)
		}
	}
	if r.took >= 10*time.Millisecond {
		parts = append(parts, r.took.Round(10*time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

// Progress are the lines of a live table: what is known of each server so far.
func Progress(names []string, begun []bool, done []*Report) []string {
	lines := make([]string, len(names))
	for i, name := range names {
		state, more := "waiting", ""
		switch {
		case done[i] != nil:
			state, more = done[i].level(), done[i].summary()
			if bad := slices.IndexFunc(done[i].Checks, func(c Check) bool { return !c.OK }); bad >= 0 {
				more = done[i].Checks[bad].Message
			}
		case begun[i]:
			state = "checks"
		}
		lines[i] = strings.TrimRight(fmt.Sprintf("%-*s  %s  %s", len(levelWarning), state, ui.CleanLine(name), ui.CleanLine(more)), " ")
	}
	return lines
}
