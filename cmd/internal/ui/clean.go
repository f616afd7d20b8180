package ui

import (
	"strings"
	"unicode/utf8"
)

// Clean makes text of a server or registry safe to print on a terminal. It
// removes escape sequences whole (colours, cursor moves, titles, hyperlinks),
// every other control character but newline and tab, characters that reorder
// text (bidirectional controls) and the invisible tag characters. CR LF and a
// lone CR become a newline, so nothing is printed over. Bytes that are not
// UTF-8 become U+FFFD. Text without any of these is returned as it is.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b || r >= 0x80 && r < 0xa0:
			i += sequence(s[i:], r, n)
			continue
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case !unsafeRune(r):
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// CleanLine is [Clean] for text that has to stay on one line: newlines and
// tabs become spaces, runs of spaces one.
func CleanLine(s string) string {
	s = Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

func isClean(s string) bool {
	for i, r := range s {
		if unsafeRune(r) {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
	}
	return true
}

// unsafeRune tells whether a character is dropped. Bidirectional controls:
// Unicode 16, UAX #9, section 2.
func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x2028, r == 0x2029: // terminals disagree on these line ends
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// sequence gives the length of the escape sequence that s begins with; first
// is its first rune, n bytes long. A sequence that never ends is taken to the
// end of the line only: text after it is not lost. Grammar: ECMA-48, 5.3-5.6.
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
