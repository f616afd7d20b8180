package registry

import (
	"cmp"
	"fmt"
	"strings"
)

// Error is a failed request to a registry. The cause tells the kind: a
// [*runtime.ConnectError], [*runtime.TimeoutError], [*runtime.ProtocolError],
// [*runtime.AuthError], [*StatusError] or an error of the context.
type Error struct {
	// Op is the operation: "list" or "get".
	Op     string
	Err    error
	Remedy string
}

// Error names the operation and the cause.
func (e *Error) Error() string { return "registry " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the remedy, "" when nothing is known.
func (e *Error) Hint() string { return e.Remedy }

// StatusError is an HTTP status of refusal, with the registry's explanation
// (application/problem+json).
type StatusError struct {
	Status int
	Title  string
	Detail string
	// Problems are the faults of single parameters.
	Problems []string
}

// Error returns the explanation and the status.
func (e *StatusError) Error() string {
	words := cmp.Or(e.Detail, e.Title)
	if len(e.Problems) > 0 {
		words = strings.TrimPrefix(words+": ", ": ") + strings.Join(e.Problems, "; ")
	}
	if words == "" {
		return fmt.Sprintf("HTTP %d", e.Status)
	}
	return fmt.Sprintf("%s (HTTP %d)", words, e.Status)
}

// NotFoundError says that a registry holds no such server or version.
type NotFoundError struct {
	Name    string
	Version string // "" for any
	// Near are names that look alike, at most five.
	Near []string
}

// Error names the missing server or version.
func (e *NotFoundError) Error() string {
	if e.Version != "" {
		return fmt.Sprintf("registry get %s: no version %s", e.Name, e.Version)
	}
	return "registry get " + e.Name + ": no such server"
}

// Hint lists the near names.
func (e *NotFoundError) Hint() string {
	if len(e.Near) > 0 {
		return "near: " + strings.Join(e.Near, ", ")
	}
	if e.Version != "" {
		return "mcpctl info " + e.Name + " shows the newest version"
	}
	return "mcpctl search WORDS lists what there is"
}

// UsageError is a request that no registry can answer.
type UsageError struct{ Reason string }

// Error returns the reason.
func (e *UsageError) Error() string { return e.Reason }

// ExitKind makes it a usage error of the command line.
func (e *UsageError) ExitKind() string { return "usage" }
