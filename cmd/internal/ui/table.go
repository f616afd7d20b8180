package ui

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// NameTable writes rows under headers. Cells are cleaned and put on one line. The first
// column, which users copy into the next command, is never cut; see [Table].
func (u *UI) NameTable(headers []string, rows [][]string) error {
	return u.Table(Table{Headers: headers, Rows: rows})
}

// Table is NameTable for a table with more columns to keep, or with colours.
func (u *UI) Table(t Table) error {
	clean := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		clean[i] = make([]string, len(row))
		for k, cell := range row {
			clean[i][k] = CleanLine(cell)
		}
	}
	t.Rows = clean
	_, err := io.WriteString(u.Out, t.Render(u.width(), u.Palette()))
	return err
}

// PrintTools writes a list of tools or prompts, and notes what its marks mean.
func (u *UI) PrintTools(head string, entries []Tool) error {
	if _, err := io.WriteString(u.Out, Tools(head, entries, u.width(), u.Palette())); err != nil {
		return err
	}
	if legend := Legend(entries); legend != "" {
		u.Info("hints: %s", legend)
	}
	return nil
}

// Palette returns the colours of standard output.
func (u *UI) Palette() Palette { return Palette(u.Color) }

// width returns the number of columns of the terminal, 0 for none or an unknown
// size.
func (u *UI) width() int {
	if !u.OutTTY || u.Wide {
		return 0
	}
	if u.columns > 0 {
		return u.columns
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

// Row is [UI.Info] of a line that is shortened to the width of the terminal.
func (u *UI) Row(line string) {
	width := 0
	if u.ErrTTY {
		width = widthOf(u.Err)
	}
	u.Info("%s", snip(CleanLine(line), width))
}
