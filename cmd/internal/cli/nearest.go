package cli

import (
	"strings"

	"github.com/mcpctl/mcpctl/runtime/nearest"
)

// nearestNames is how many names a suggestion has.
const nearestNames = 3

// didYouMean returns a suggestion, or "" when nothing is close.
func didYouMean(name string, known []string) string {
	near := nearest.Names(name, known, nearestNames)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + orList(near) + "?"
}

// orList returns "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// unknownName returns the error for the name of a tool, prompt or server that does
// not exist. list is the command that shows those that do.
func unknownName(what, name string, known []string, list string) *Error {
	e := usagef("%s %s", what, name)
	parts := []string{}
	if s := didYouMean(name, known); s != "" {
		parts = append(parts, s)
	}
	if list != "" {
		parts = append(parts, "see "+list)
	}
	e.Remedy = strings.Join(parts, " ")
	return e
}
