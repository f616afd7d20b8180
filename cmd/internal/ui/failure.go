package ui

import (
	"errors"
	"fmt"
)

// Error is a failure with what its cause lacks: a kind, or what mends it.
type Error struct {
	Kind   string // of error objects, such as "usage"; "" is that of the cause
	Remedy string
	Err    error
}

// Usage returns the error of a command that is called in a wrong way.
func Usage(format string, a ...any) *Error {
	return &Error{Kind: "usage", Err: fmt.Errorf(format, a...)}
}

// WithHint adds the remedy and returns the error.
func (e *Error) WithHint(format string, a ...any) *Error {
	e.Remedy = fmt.Sprintf(format, a...)
	return e
}

// Error returns the text of the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *Error) Hint() string { return e.Remedy }

// HintOf returns the remedy of an error, "" if it has none.
func HintOf(err error) string {
	if h := (interface{ Hint() string })(nil); errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// Attrs returns an error as attributes of a log line: its text and its remedy.
func Attrs(err error) []any {
	attrs := []any{"problem", err.Error()}
	if hint := HintOf(err); hint != "" {
		attrs = append(attrs, "hint", hint)
	}
	return attrs
}

// ExitKind returns the kind, which decides the exit code.
func (e *Error) ExitKind() string {
	var cause interface{ ExitKind() string }
	if e.Kind == "" && errors.As(e.Err, &cause) {
		return cause.ExitKind()
	}
	return e.Kind
}
