package ui

import (
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Table writes rows under headers, without borders and with two spaces between
// columns. Cells are cleaned and put on one line. On a terminal the widest
// columns are shortened until a row fits. Rows may be shorter than the headers.
func (u *UI) Table(headers []string, rows [][]string) error {
	_, err := io.WriteString(u.Out, renderTable(headers, rows, 0, u.Width(), u.Color))
	return err
}

// NameTable is a [UI.Table] whose first column, which users copy into the next
// command, is shortened last.
func (u *UI) NameTable(headers []string, rows [][]string) error {
	_, err := io.WriteString(u.Out, renderTable(headers, rows, 1, u.Width(), u.Color))
	return err
}

// Width returns the number of columns of the terminal, 0 for none or an unknown
// size.
func (u *UI) Width() int {
	if !u.OutTTY {
		return 0
	}
	return widthOf(u.Out)
}

// widthOf returns the number of columns of a terminal, 0 for anything else.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// snip shortens a line to some columns; 0 is unlimited.
func snip(line string, columns int) string {
	if columns <= 0 {
		return line
	}
	return text.Snip(line, columns, "…")
}

// Row is [UI.Note] of a line that is shortened to the width of the terminal.
func (u *UI) Row(line string) {
	width := 0
	if u.ErrTTY {
		width = widthOf(u.Err)
	}
	u.Note("%s", snip(CleanLine(line), width))
}

const (
	columnGap      = 2
	minColumnWidth = 8 // a column is not shortened below this
)

// renderTable formats a table; the first names columns are shortened last, width 0
// is unlimited.
func renderTable(headers []string, rows [][]string, names, width int, color bool) string {
	widths := make([]int, len(headers))
	for i, h := range headers {
		widths[i] = text.StringWidth(h)
	}
	cells := make([][]string, len(rows))
	for r, row := range rows {
		cells[r] = make([]string, len(headers))
		for i := range min(len(row), len(headers)) {
			cells[r][i] = CleanLine(row[i])
			widths[i] = max(widths[i], text.StringWidth(cells[r][i]))
		}
	}
	if width > 0 {
		gaps := columnGap * (len(widths) - 1)
		for _, w := range widths[:names] {
			gaps += w
		}
		fit(widths[names:], width-gaps)
		fit(widths, width-columnGap*(len(widths)-1))
	}

	t := table.NewWriter()
	style := table.StyleDefault
	style.Box = table.BoxStyle{PaddingRight: strings.Repeat(" ", columnGap)}
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format = table.FormatOptions{}
	t.SetStyle(style)
	head := make(table.Row, len(headers))
	for i, h := range headers {
		head[i] = text.Snip(h, widths[i], "…")
	}
	t.AppendHeader(head)
	for _, row := range cells {
		line := make(table.Row, len(row))
		for i, cell := range row {
			line[i] = text.Snip(cell, widths[i], "…")
		}
		t.AppendRow(line)
	}
	lines := strings.Split(t.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	if color {
		lines[0] = "\x1b[1m" + lines[0] + "\x1b[0m"
	}
	return strings.Join(lines, "\n") + "\n"
}

// fit shortens the widest columns until their sum is width or all are minimal.
func fit(widths []int, width int) {
	total := 0
	for _, w := range widths {
		total += w
	}
	for total > width {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumnWidth {
			return
		}
		widths[widest]--
		total--
	}
}
