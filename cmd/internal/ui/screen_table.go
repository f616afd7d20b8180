package ui

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap      = 2 // columns between two cells
	indent   = 4 // of what does not fit beside a name
	minWidth = 8 // a column is not narrower than that
	minText  = 20
	mostName = 80 // without a terminal, longer names pad no others
)

// Table is rows under headers. The first column holds names, which are never cut.
// Columns without a cell are left out; rows may be shorter than the headers.
type Table struct {
	Headers []string
	Rows    [][]string
	// Keep are further columns whose cells are never cut: a longer one gets a line
	// of its own.
	Keep []int
	// Paint colours the cells of a column.
	Paint map[int]func(string) string
}

// Render returns the table for a terminal with some columns, 0 for any number.
func (t Table) Render(width int, p Palette) string {
	l := layout{width: width, p: p}
	for i, h := range t.Headers {
		empty := func(row []string) bool { return i >= len(row) || row[i] == "" }
		if i > 0 && len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []string) bool { return !empty(row) }) {
			continue
		}
		l.columns = append(l.columns, column{head: h, from: i, keep: slices.Contains(t.Keep, i), paint: t.Paint[i]})
	}
	for _, cells := range t.Rows {
		row := make([][]string, len(l.columns))
		for i, c := range l.columns {
			if c.from < len(cells) {
				row[i] = []string{cells[c.from]}
			}
		}
		l.rows = append(l.rows, row)
	}
	return l.render()
}

// layout is a table on its way to text. A cell is its lines: names may have several,
// others have one or none.
type layout struct {
	columns []column
	rows    [][][]string
	width   int
	p       Palette
}

type column struct {
	head  string
	from  int // in the table's rows
	keep  bool
	paint func(string) string
	width int
}

func (c *column) show(cell string) string {
	if c.paint == nil {
		return cell
	}
	return c.paint(cell)
}

func (l *layout) render() string {
	var b strings.Builder
	if !l.measure() {
		for _, row := range l.rows {
			l.stack(&b, row, true)
		}
		return b.String()
	}
	heads := make([]string, len(l.columns))
	for i := range l.columns {
		heads[i] = l.columns[i].head
	}
	head := l.line(heads, func(_ *column, cell string) string { return cell })
	b.WriteString(l.p.Bold(head) + "\n")
	for _, row := range l.rows {
		if len(row[0]) > 1 || l.width > 0 && text.StringWidth(first(row[0])) > l.columns[0].width {
			l.stack(&b, row, false)
			continue
		}
		var below []string
		cells := make([]string, len(row))
		for i := range row {
			cells[i] = first(row[i])
			if c := &l.columns[i]; i > 0 && c.keep && text.StringWidth(cells[i]) > c.width {
				below = append(below, strings.Repeat(" ", indent)+c.show(cells[i]))
				cells[i] = ""
			}
		}
		b.WriteString(l.line(cells, (*column).show) + "\n")
		for _, line := range below {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// line returns one line of cells in their columns, without spaces at its end.
func (l *layout) line(cells []string, show func(*column, string) string) string {
	last := len(cells) - 1
	for last > 0 && cells[last] == "" {
		last--
	}
	var b strings.Builder
	for i, cell := range cells[:last+1] {
		c := &l.columns[i]
		if l.width > 0 {
			cell = text.Snip(cell, c.width, "…")
		}
		b.WriteString(show(c, cell))
		if i < last {
			b.WriteString(strings.Repeat(" ", max(c.width-text.StringWidth(cell), 0)+gap))
		}
	}
	return b.String()
}

// stack writes a row whose name does not fit its column: the name, and the other cells
// below it, with their headers if labels.
func (l *layout) stack(b *strings.Builder, row [][]string, labels bool) {
	for _, line := range row[0] {
		b.WriteString(l.columns[0].show(line) + "\n")
	}
	f := flow{width: l.width}
	for i := 1; i < len(row); i++ {
		if c := &l.columns[i]; first(row[i]) != "" {
			label := ""
			if labels {
				label = strings.ToLower(c.head) + " "
			}
			f.add(label, first(row[i]), c)
		}
	}
	b.WriteString(f.end())
}

// flow puts cells one behind the other, on as many indented lines as they need.
type flow struct {
	width int
	out   strings.Builder
	used  int // columns of the current line, 0 before the first
}

func (f *flow) add(label, cell string, c *column) {
	need := text.StringWidth(label + cell)
	space := f.width - f.used - gap
	if f.used == 0 || f.width > 0 && need > space && (c.keep || space < minText) {
		if f.used > 0 {
			f.out.WriteString("\n")
		}
		f.out.WriteString(strings.Repeat(" ", indent))
		f.used, space = indent, f.width-indent
	} else {
		f.out.WriteString(strings.Repeat(" ", gap))
		f.used += gap
	}
	if f.width > 0 && need > space && !c.keep {
		cell = text.Snip(cell, max(space-text.StringWidth(label), 1), "…")
	}
	f.used += text.StringWidth(label + cell)
	f.out.WriteString(label + c.show(cell))
}

func (f *flow) end() string {
	if f.used > 0 {
		f.out.WriteString("\n")
	}
	return f.out.String()
}

// measure sets the widths of the columns and reports whether they fit.
func (l *layout) measure() bool {
	for i := range l.columns {
		l.columns[i].width = l.widest(i, 0)
	}
	if l.width <= 0 {
		l.columns[0].width = l.widest(0, mostName)
		return true
	}
	if l.total() <= l.width {
		return true
	}
	l.columns[0].width = max(text.StringWidth(l.columns[0].head), l.widest(0, l.width/2))
	for l.total() > l.width {
		at := 0
		for i := 1; i < len(l.columns); i++ {
			if at == 0 || l.columns[i].width > l.columns[at].width {
				at = i
			}
		}
		if at == 0 {
			return true // names alone: they are never cut
		}
		if l.columns[at].width <= minWidth {
			return false
		}
		l.columns[at].width--
	}
	return true
}

// widest returns the width of the widest cell of a column that has at most some
// columns, 0 for any number.
func (l *layout) widest(i, most int) int {
	widest := text.StringWidth(l.columns[i].head)
	for _, row := range l.rows {
		for _, line := range row[i] {
			if w := text.StringWidth(line); most == 0 || w <= most && len(row[i]) == 1 {
				widest = max(widest, w)
			}
		}
	}
	return widest
}

func (l *layout) total() int {
	total := gap * (len(l.columns) - 1)
	for _, c := range l.columns {
		total += c.width
	}
	return total
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
