// Package ui is the interface of commands to people and scripts: streams, terminal
// detection, tables and JSON, questions.
//
// Standard output is for results only; everything else goes to standard error.
package ui

import (
	"io"
	"os"

	"golang.org/x/term"
)

// UI holds the streams of one run and their settings.
type UI struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	// InTTY, OutTTY and ErrTTY report which streams are terminals.
	InTTY, OutTTY, ErrTTY bool
	// JSON is an explicit --json (or -o json); Text an explicit -o text.
	JSON, Text bool
	// NoInput forbids questions.
	NoInput bool
	// Quiet drops hints and notes; errors and results stay.
	Quiet bool
	// Color reports whether output for people may be coloured.
	Color bool

	live liveLine
}

// New returns a UI of three streams and detects which are terminals.
func New(in io.Reader, out, err io.Writer) *UI {
	return &UI{In: in, Out: out, Err: err, InTTY: isTTY(in), OutTTY: isTTY(out), ErrTTY: isTTY(err)}
}

// WantJSON reports whether results are printed as JSON: by flag, or by default when
// piped.
func (u *UI) WantJSON() bool { return u.JSON || (!u.OutTTY && !u.Text) }

// CanAsk reports whether questions are possible: standard input and standard error
// are terminals and NoInput is not set.
func (u *UI) CanAsk() bool { return u.InTTY && u.ErrTTY && !u.NoInput }

func isTTY(s any) bool {
	f, ok := s.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
