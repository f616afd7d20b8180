// Package ui is the interface of commands to people and scripts: streams, terminal
// detection, tables and JSON, questions. [Palette], [Table] and [JSON] write what they are given
// in colour or without; an [Error] says with which code a command ends.
//
// Standard output is for results only; everything else goes to standard error.
package ui

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/term"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// UI holds the streams of one run and their settings.
type UI struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	// InTTY, OutTTY and ErrTTY report which streams are terminals.
	InTTY, OutTTY, ErrTTY bool
	// JSON is an explicit --json (or -o json), or a form made of it; Text an explicit -o text
	// or wide.
	JSON, Text bool
	// Wide is an explicit -o wide: text whose columns are never cut to the terminal.
	Wide bool
	// Form is what is printed instead of JSON, with which JSON is set as well; nil for
	// JSON itself.
	Form Form
	// Short is an explicit -o json-compact, with which JSON is set as well.
	Short bool
	// NoInput forbids questions.
	NoInput bool
	// Quiet drops hints and notes; errors and results stay.
	Quiet bool
	// Graphics is how the terminal of standard output shows pictures.
	Graphics Graphics
	// Color and ErrColor report whether text for people may be coloured, on standard
	// output and standard error.
	Color, ErrColor bool

	live liveLine

	// While a command's output is collected: the width that it is made for, and its notes.
	columns int
	notes   *bytes.Buffer
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

// Clean makes text of a server or registry safe to print on a terminal; see
// [plain.Text].
func Clean(s string) string { return plain.Text(s) }

// CleanLine is [Clean] on one line; see [plain.Line].
func CleanLine(s string) string { return plain.Line(s) }

// ReaderGone reports whether an error means that the reader of standard output has
// closed it, as head does: that is no failure. The error has to come from standard
// output itself, since a broken pipe to a server is a failure.
//
// By default SIGPIPE kills Go programs in this case, before they can reap a child
// process; main catches it.
func ReaderGone(err error) bool {
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != "/dev/stdout" {
		return false
	}
	return BrokenPipe(path.Err)
}

// BrokenPipe reports whether an error is a write to a pipe that nobody reads.
func BrokenPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) {
		return true
	}
	// ERROR_BROKEN_PIPE and ERROR_NO_DATA (Windows system error codes).
	var errno syscall.Errno
	return runtime.GOOS == "windows" && errors.As(err, &errno) && slices.Contains([]syscall.Errno{109, 232}, errno)
}
