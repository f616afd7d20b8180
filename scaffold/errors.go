package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// RefusedError says that a record cannot be added, or should not be.
type RefusedError struct {
	Name, Version string
	Reasons       []string
	// Force tells that --force would allow it.
	Force bool
	// Website is where the publisher explains how to install it, "" when
	// nobody says.
	Website string
}

// Error gives the reasons, the first few of many.
func (e *RefusedError) Error() string {
	const shown = 6
	reasons := e.Reasons
	if more := len(reasons) - shown; more > 0 {
		reasons = append(slices.Clone(reasons[:shown]), fmt.Sprintf("and %d more", more))
	}
	return "add " + strings.TrimSpace(e.Name+" "+e.Version) + ": refused: " + strings.Join(reasons, "; ")
}

// Hint says what is left to do.
func (e *RefusedError) Hint() string {
	switch {
	case e.Force:
		return "add --force adds it all the same"
	case e.Website != "":
		return "its publisher explains at " + e.Website
	}
	return ""
}

// UsageError says that the options do not fit the record.
type UsageError struct {
	Reason string
	Remedy string
}

// Error gives the reason.
func (e *UsageError) Error() string { return e.Reason }

// Hint gives the remedy.
func (e *UsageError) Hint() string { return e.Remedy }

// ExitKind makes it a usage error of the command line.
func (e *UsageError) ExitKind() string { return "usage" }
