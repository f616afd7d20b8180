package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Watch runs show again and again until ctx ends, whose error it returns, or show fails. On a
// terminal each run takes the place of the one before, and nothing is asked meanwhile. Elsewhere
// the result of a run is written if it differs from the last, and so are its notes.
func (u *UI) Watch(ctx context.Context, every time.Duration, show func() error) error {
	// Neither questions nor lines of progress would leave the picture as it is.
	terminal := u.ErrTTY
	u.ErrTTY = terminal && !u.OutTTY
	defer func() { u.ErrTTY = terminal }()
	t := time.NewTicker(every)
	defer t.Stop()
	var last []byte
	lastNotes, drawn := "", 0
	for {
		c, err := u.collect(show)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if u.OutTTY {
			lines := u.frame(c.out.String() + c.notes.String())
			var b strings.Builder
			if drawn > 0 {
				fmt.Fprintf(&b, "\r\x1b[%dA", drawn)
			}
			for _, line := range lines {
				b.WriteString("\x1b[2K" + line + "\r\n")
			}
			b.WriteString("\x1b[J")
			drawn = len(lines)
			_, err = io.WriteString(u.Out, b.String())
		} else {
			if notes := c.notes.String(); notes != lastNotes {
				u.live.print(u.Err, notes)
				lastNotes = notes
			}
			if !bytes.Equal(c.out.Bytes(), last) {
				last = c.out.Bytes()
				_, err = u.Out.Write(last)
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// frame returns the lines of a text that fit the terminal.
func (u *UI) frame(text string) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns, height := 0, 0
	if f, ok := u.Out.(*os.File); ok {
		columns, height, _ = term.GetSize(int(f.Fd())) // 0 where it is not known
	}
	if space := height - 2; space > 0 && len(lines) > space {
		lines = append(lines[:space:space], fmt.Sprintf("… and %d more lines", len(lines)-space))
	}
	for i := range lines {
		lines[i] = snip(lines[i], columns)
	}
	return lines
}
