// Package plain makes foreign text safe to show on a terminal.
package plain

import (
	"strings"
	"unicode/utf8"
)

// Text returns s without escape sequences (colours, cursor moves, titles,
// hyperlinks), control characters other than newline and tab, characters that
// reorder text, and invisible characters (see dropped). CR LF and a lone CR become
// a newline, so nothing is printed over. Bytes that are not UTF-8 become U+FFFD.
func Text(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(-1) // written last
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == 0x1b || r >= 0x80 && r < 0xa0 {
			i += sequence(s[i:], r, n)
			continue
		}
		i += n
		if r == '\r' && !strings.HasPrefix(s[i:], "\n") {
			r = '\n'
		}
		if !dropped(r, last) {
			b.WriteRune(r)
			last = r
		}
	}
	return b.String()
}

// Line is [Text] on one line: newlines and tabs become spaces, runs of spaces one.
func Line(s string) string {
	s = Text(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

func isClean(s string) bool {
	last := rune(-1)
	for i, r := range s {
		if dropped(r, last) {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
		last = r
	}
	return true
}

// sequence returns the length of the escape sequence that s begins with; first
// is its first rune, n bytes long. An unterminated sequence ends with its line, so
// that text after it is not lost. Grammar: ECMA-48, 5.3-5.6.
func sequence(s string, first rune, n int) int {
	kind := first
	if first == 0x1b {
		if len(s) == 1 {
			return 1
		}
		kind = rune(s[1])
		if kind >= 0x40 && kind <= 0x5f {
			kind += 0x40 // the two-byte form of a C1 control
			n = 2
		} else if kind >= 0x20 && kind < 0x7f {
			// Intermediate bytes, then one final byte.
			i := 1
			for i < len(s) && s[i] >= 0x20 && s[i] < 0x30 {
				i++
			}
			if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
				i++
			}
			return i
		} else {
			return 1
		}
	}
	switch kind {
	case 0x9b: // CSI: parameters, intermediates, a final byte
		i := n
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
			i++
		}
		return i
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: up to BEL or ST
		for i := n; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && strings.HasPrefix(s[i:], "\x1b\\"):
				return i + 2
			case strings.HasPrefix(s[i:], "\u009c"):
				return i + len("\u009c")
			case s[i] == '\n':
				return i
			}
		}
		return len(s)
	}
	return n
}
