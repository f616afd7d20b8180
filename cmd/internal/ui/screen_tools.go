package ui

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mcpctl/mcpctl/internal/declare"
)

// Tool is a tool, or a prompt, in a list.
type Tool struct {
	Name string
	Args []Arg
	// Unknown says that the arguments cannot be read.
	Unknown bool
	// Marks are the letters of [Marks].
	Marks string
	Text  string
}

// Arg is an argument; Type may be empty.
type Arg = declare.Arg

// Tools returns a list of tools for a terminal with some columns, 0 for any number.
// head names the first column.
func Tools(head string, tools []Tool, width int, p Palette) string {
	l := layout{width: width, p: p, columns: []column{{head: head}}}
	marked := slices.ContainsFunc(tools, func(t Tool) bool { return t.Marks != "" })
	if marked {
		l.columns = append(l.columns, column{head: "HINTS", keep: true, paint: p.marks})
	}
	if slices.ContainsFunc(tools, func(t Tool) bool { return t.Text != "" }) {
		l.columns = append(l.columns, column{head: "DESCRIPTION"})
	}
	for i := range tools {
		t := &tools[i]
		row := [][]string{t.lines(width)}
		if marked {
			row = append(row, []string{t.Marks})
		}
		if len(row) < len(l.columns) {
			row = append(row, []string{t.Text})
		}
		l.rows = append(l.rows, row)
	}
	return l.render()
}

// Signature returns a tool's name and all its arguments: get-sum(a:number, b?:number).
func (t *Tool) Signature() string { return t.signature().String() }

func (t *Tool) signature() declare.Signature {
	return declare.Signature{Name: t.Name, Args: t.Args, Unknown: t.Unknown}
}

// lines returns the signature on one line that leaves half of the width to a
// description, else on one that fits, else on several: see [declare.Signature.Shorter].
func (t *Tool) lines(width int) []string {
	sig := t.signature()
	full := sig.String()
	if width <= 0 || t.Unknown || text.StringWidth(full) <= width/2 {
		return []string{full}
	}
	for _, space := range []int{width / 2, width} {
		for s := range sig.Shorter() {
			if text.StringWidth(s) <= space {
				return []string{s}
			}
		}
	}
	parts := sig.Parts(0, false)
	if s := sig.Join(parts); text.StringWidth(s) <= width {
		return []string{s}
	}
	return wrap(t.Name+"(", parts, ")", width)
}

// wrap puts words with commas between them on lines of at most some columns. A longer
// word has a line of its own.
func wrap(head string, words []string, tail string, width int) []string {
	var lines []string
	line := head
	for i, w := range words {
		if i+1 < len(words) {
			w += ","
		} else {
			w += tail
		}
		sep := " "
		if i == 0 || strings.TrimSpace(line) == "" {
			sep = ""
		}
		if strings.TrimSpace(line) != "" && text.StringWidth(line+sep+w) > width {
			lines = append(lines, line)
			line, sep = strings.Repeat(" ", indent), ""
		}
		line += sep + w
	}
	return append(lines, line)
}

// Values returns all values of an enumeration on lines of at most some columns, 0 for
// any number, after a head.
func Values(head string, values []string, width int) []string {
	if width <= 0 {
		return []string{head + strings.Join(values, ", ")}
	}
	margin := strings.Repeat(" ", len(head)-len(strings.TrimLeft(head, " ")))
	lines := wrap(strings.TrimLeft(head, " "), values, "", width-len(margin))
	for i, line := range lines {
		lines[i] = margin + line
	}
	return lines
}

// mark is the short form of a hint.
type mark struct {
	letter byte
	word   string
}

func markTable() []mark {
	return []mark{{'r', "read-only"}, {'!', "destructive"}, {'+', "additive"}, {'=', "idempotent"}, {'@', "open-world"}}
}

// Marks returns the letters of hints: read-only, destructive, additive, idempotent and
// open-world.
func Marks(hints []string) string {
	var out []byte
	for _, m := range markTable() {
		if slices.Contains(hints, m.word) {
			out = append(out, m.letter)
		}
	}
	return string(out)
}

// Legend says what the marks of tools mean, "" without any.
func Legend(tools []Tool) string {
	var parts []string
	for _, m := range markTable() {
		if slices.ContainsFunc(tools, func(t Tool) bool { return strings.IndexByte(t.Marks, m.letter) >= 0 }) {
			parts = append(parts, string(m.letter)+" "+m.word)
		}
	}
	return strings.Join(parts, ", ")
}

// marks colours the marks of one tool.
func (p Palette) marks(marks string) string {
	switch {
	case strings.Contains(marks, "!"):
		return p.Red(marks)
	case strings.Contains(marks, "r"):
		return p.Green(marks)
	}
	return marks
}

// Wrap breaks a line between words for a terminal with some columns, 0 for any number.
// Further lines are indented like the first. A longer word is left whole.
func Wrap(line string, width int) []string {
	if width <= 0 || columns(line) <= width {
		return []string{line}
	}
	rest := strings.TrimLeft(line, " ")
	margin := line[:len(line)-len(rest)]
	var lines []string
	current, used := margin, len(margin)
	for word := range strings.FieldsSeq(rest) {
		takes := columns(word)
		switch {
		case current == margin:
			current, used = current+word, used+takes
		case used+1+takes > width:
			lines = append(lines, current)
			current, used = margin+word, len(margin)+takes
		default:
			current, used = current+" "+word, used+1+takes
		}
	}
	return append(lines, current)
}

// columns returns how many columns of a terminal a text takes. Most are ASCII, and every
// command wraps some for its help.
func columns(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return text.StringWidth(s)
		}
	}
	return len(s)
}
