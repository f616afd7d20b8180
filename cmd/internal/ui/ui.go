// Package ui is everything between a command and the person or script that
// runs it: streams, terminal detection, tables and JSON, questions.
//
// Standard output carries results only; everything else goes to standard
// error.
package ui

import (
	"io"
	"os"

	"golang.org/x/term"
)

// UI is the streams of one run and how to use them.
type UI struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	// InTTY, OutTTY and ErrTTY tell which of the streams are terminals.
	InTTY, OutTTY, ErrTTY bool
	// JSON is an explicit --json (or -o json); Text an explicit -o text.
	JSON, Text bool
	// NoInput forbids questions, as a missing terminal does.
	NoInput bool
	// Quiet drops hints and notes; errors and results stay.
	Quiet bool
	// Color tells whether output for people may be coloured.
	Color bool

	live liveLine
}

// New makes a UI of three streams and finds out which are terminals.
func New(in io.Reader, out, err io.Writer) *UI {
	return &UI{In: in, Out: out, Err: err, InTTY: isTTY(in), OutTTY: isTTY(out), ErrTTY: isTTY(err)}
}

// WantJSON tells whether results are to be JSON: asked for, or piped and
// nothing else asked for.
func (u *UI) WantJSON() bool { return u.JSON || (!u.OutTTY && !u.Text) }

// CanAsk tells whether a question can reach a person: both standard input and
// standard error are terminals and nobody forbade it.
func (u *UI) CanAsk() bool { return u.InTTY && u.ErrTTY && !u.NoInput }

func isTTY(s any) bool {
	f, ok := s.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
