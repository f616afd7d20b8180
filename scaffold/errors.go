package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// RefusedError is a record that cannot be added, or should not be.
type RefusedError struct {
	Name, Version string
	Reasons       []string
	// Findings are the reasons with their rules, and the warnings so far.
	Findings []Finding
	// Force is set where --force would allow it.
	Force bool
	// Website is where the publisher explains how to install it; "" is unknown.
	Website string
}

// Error returns the reasons, the first few of many.
func (e *RefusedError) Error() string {
	const shown = 6
	reasons := e.Reasons
	if more := len(reasons) - shown; more > 0 {
		reasons = append(slices.Clone(reasons[:shown]), fmt.Sprintf("and %d more", more))
	}
	return "add " + strings.TrimSpace(e.Name+" "+e.Version) + ": refused: " + strings.Join(reasons, "; ")
}

// Hint returns what the user can still do.
func (e *RefusedError) Hint() string {
	switch {
	case e.Force:
		return "add --force adds it anyway"
	case e.Website != "":
		return "its publisher explains at " + e.Website
	}
	return ""
}

// UsageError is for options that do not fit the record.
type UsageError struct {
	Reason string
	Remedy string
}

// Error returns the reason.
func (e *UsageError) Error() string { return e.Reason }

// Hint returns the remedy.
func (e *UsageError) Hint() string { return e.Remedy }

// ExitKind returns the kind of failure on a command line.
func (e *UsageError) ExitKind() string { return "usage" }
