package proctree

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// MarkVariable is set in the environment of guarded children and says whose
// they are: the marks of all guards above them, the outermost first, separated
// by colons. A mark is the guard's id, a dot and the number of the child. All
// descendants inherit it; a process that is meant to outlive the server is
// started without it.
const MarkVariable = "MCPCTL_GUARD"

// MarkOf returns the value of MarkVariable in an environment of strings that end in NUL,
// as systems keep it, with or without arguments before it.
func MarkOf(environ []byte) (string, bool) {
	name := []byte(MarkVariable + "=")
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(line, name); ok {
			return string(value), true
		}
	}
	return "", false
}

// HasMark reports whether a value of MarkVariable has a mark among its own.
func HasMark(value, mark string) bool {
	for m := range strings.SplitSeq(value, ":") {
		if m == mark {
			return true
		}
	}
	return false
}

// MarkedBy reports whether a value of MarkVariable has a mark of a guard.
func MarkedBy(value, guard string) bool {
	for m := range strings.SplitSeq(value, ":") {
		if id, _, ok := strings.Cut(m, "."); ok && id == guard {
			return true
		}
	}
	return false
}

// MarkFor returns the mark of a guard's child.
func MarkFor(guard string, child uint64) string {
	return guard + "." + strconv.FormatUint(child, 10)
}

// WithMark returns an environment with one more mark.
func WithMark(env []string, mark string) []string {
	out := slices.Clone(env)
	above := ""
	out = slices.DeleteFunc(out, func(line string) bool {
		value, ok := strings.CutPrefix(line, MarkVariable+"=")
		if ok {
			above = value // of several the last holds
		}
		return ok
	})
	if above != "" {
		mark = above + ":" + mark
	}
	return append(out, MarkVariable+"="+mark)
}
