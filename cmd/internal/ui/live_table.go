package ui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// LiveTable is a number of lines at the end of standard error that are drawn again and
// again, and erased in the end. A nil *LiveTable draws nothing. It is for one goroutine
// at a time, while nothing else writes to standard error.
type LiveTable struct {
	w             io.Writer
	width, height int
	drawn         int // lines
}

// NewLiveTable returns a table. It is nil if standard error is not a terminal, or with
// Quiet.
func NewLiveTable(u *UI) *LiveTable {
	f, ok := u.Err.(*os.File)
	if !ok || !u.ErrTTY || u.Quiet {
		return nil
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return nil
	}
	return &LiveTable{w: u.Err, width: width, height: height}
}

// Width returns the number of columns of the terminal that results go to, 0 for none or
// an unknown size.
func (u *UI) Width() int { return u.width() }

// Draw shows lines in the place of the last ones. What does not fit the terminal is
// shortened, and counted: the table is no result.
func (t *LiveTable) Draw(lines []string) {
	if t == nil {
		return
	}
	if space := t.height - 2; len(lines) > space && space > 0 {
		lines = append(append([]string{}, lines[:space]...), fmt.Sprintf("… and %d more", len(lines)-space))
	}
	var b strings.Builder
	b.WriteString(t.up())
	for _, line := range lines {
		b.WriteString("\x1b[2K" + snip(line, t.width-1) + "\r\n")
	}
	t.drawn = len(lines)
	_, _ = io.WriteString(t.w, b.String()) // drawing must not fail the command
}

// Stop erases the table.
func (t *LiveTable) Stop() {
	if t != nil && t.drawn > 0 {
		_, _ = io.WriteString(t.w, t.up()+"\x1b[J")
		t.drawn = 0
	}
}

func (t *LiveTable) up() string {
	if t.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", t.drawn)
}
