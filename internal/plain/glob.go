package plain

import "strings"

// MatchGlob reports whether a pattern matches the whole of a text. It takes time in proportion to
// the product of both lengths at most, and does not allocate.
func MatchGlob(pattern, text string) bool {
	before, rest, star := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, before)
	if !star || !ok {
		return ok && text == ""
	}
	for { // the first place of each part is as good as any other, but for the last part
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		if _, text, ok = strings.Cut(text, part); !ok {
			return false
		}
		rest = after
	}
}

// MatchGlobBegin reports whether a pattern matches some text that begins as given.
func MatchGlobBegin(pattern, beginning string) bool {
	before, _, star := strings.Cut(pattern, "*")
	return strings.HasPrefix(before, beginning) || star && strings.HasPrefix(beginning, before)
}

// MatchGlobAll reports whether a pattern matches every text that begins as given.
func MatchGlobAll(pattern, beginning string) bool {
	return strings.HasSuffix(pattern, "*") && MatchGlob(pattern, beginning)
}
