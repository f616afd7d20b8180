package outdir

import "fmt"

// Error is a folder that cannot be used, and what to do about it.
type Error struct {
	Err    error
	remedy string
}

// Error returns the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns what to do.
func (e *Error) Hint() string { return e.remedy }

func (e *Error) withHint(format string, a ...any) *Error {
	e.remedy = fmt.Sprintf(format, a...)
	return e
}
