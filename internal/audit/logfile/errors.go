package logfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcpctl/mcpctl/internal/sqlite"
)

// Errors of a log. What Open and the methods return says what mends it.
var (
	// ErrDamaged is that the file is no sound database, or does not have what a log has.
	ErrDamaged = errors.New("the audit log is damaged")
	// ErrInconsistent is that the log does not begin with what its last checkpoint signed.
	ErrInconsistent = errors.New("the audit log is not the one that its last checkpoint has signed")
	// ErrNewer is that a newer mcpctl has written the file.
	ErrNewer = errors.New("the audit log is of a newer mcpctl: update this one")
	// ErrReadOnly is that a log was opened for reading only.
	ErrReadOnly = errors.New("the audit log was opened for reading")
	// ErrMoved is that the file was moved or replaced while it was open.
	ErrMoved = errors.New("the audit log was moved away while it was written")
	// ErrOtherKey is that the key is of another log.
	ErrOtherKey = errors.New("the key is that of another log")
)

// explain says of an error where it was, and what mends it. Errors that it has explained
// stay.
func (f *file) explain(err error) error {
	if err == nil || errors.As(err, new(*Error)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Path: f.path, Err: err}
	switch sqlite.Code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e.Err = fmt.Errorf("%w: %w", ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		e.Mends = "make room on its disk"
	case sqlite3.SQLITE_READONLY:
		e.Mends = "run: chmod u+w " + f.path
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Mends = "another process writes it for too long: try again"
	}
	switch {
	case errors.Is(e.Err, ErrDamaged):
		e.Mends = fmt.Sprintf("keep it as evidence: `mcpctl audit verify --db %[1]s` says what can still be read, and `mv %[1]s %[1]s.damaged` begins a new log", f.path)
	case errors.Is(err, ErrInconsistent):
		e.Mends = fmt.Sprintf("keep it as evidence: `mcpctl audit verify --db %s` says what was changed", f.path)
	case errors.Is(err, ErrOtherKey):
		e.Mends = fmt.Sprintf("put the key file that belongs to it in place, or begin a new log: mv %[1]s %[1]s.old", f.path)
	case errors.Is(err, ErrMoved):
		e.Mends = "move it back, or start mcpctl anew to begin a new log"
	case errors.Is(err, fs.ErrNotExist):
		e.Mends = "there is no audit log yet: it begins with an `audit:` section in config.yaml"
	}
	return e
}

// Error is an error of a log.
type Error struct {
	// Path is where the log is.
	Path string
	// Err is what failed.
	Err error
	// Mends is what mends it; "" if that is unknown.
	Mends string
}

func (e *Error) Error() string {
	if e.Mends == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Path, e.Err, e.Mends)
}

// Hint returns what mends it.
func (e *Error) Hint() string { return e.Mends }

// Unwrap returns what failed.
func (e *Error) Unwrap() error { return e.Err }
