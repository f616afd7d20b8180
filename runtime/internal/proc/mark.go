package proc

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Mark is the variable in the environment of guarded children that tells whose
// they are: the marks of all guards above them, the outermost first, separated
// by colons. A mark is the guard's id, a dot and the number of the child. All
// descendants inherit it; a process that is meant to outlive the server is
// started without it.
const Mark = "MCPCTL_GUARD"

// markOf finds the value of Mark in an environment of strings that end in NUL,
// as systems keep it, with or without arguments before it.
func markOf(environ []byte) (string, bool) {
	name := []byte(Mark + "=")
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(line, name); ok {
			return string(value), true
		}
	}
	return "", false
}

// marked tells whether a value of Mark has a mark among its own.
func marked(value, mark string) bool {
	for m := range strings.SplitSeq(value, ":") {
		if m == mark {
			return true
		}
	}
	return false
}

// markedBy tells whether a value of Mark has one of a guard.
func markedBy(value, guard string) bool {
	for m := range strings.SplitSeq(value, ":") {
		if id, _, ok := strings.Cut(m, "."); ok && id == guard {
			return true
		}
	}
	return false
}

func markFor(guard string, child uint64) string {
	return guard + "." + strconv.FormatUint(child, 10)
}

// withMark gives an environment with one more mark.
func withMark(env []string, mark string) []string {
	out := slices.Clone(env)
	above := ""
	out = slices.DeleteFunc(out, func(line string) bool {
		value, ok := strings.CutPrefix(line, Mark+"=")
		if ok {
			above = value // of several the last holds
		}
		return ok
	})
	if above != "" {
		mark = above + ":" + mark
	}
	return append(out, Mark+"="+mark)
}
