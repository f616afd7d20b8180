package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// White space and line ends as ECMA-262 has them (12.2 and 12.3), as parts of a class.
const (
	spaces   = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	lineEnds = `\n\r\x{2028}\x{2029}`
)

// reading is how a pattern of ECMA-262 can be matched.
type reading int

const (
	asGo      reading = iota // by Go's engine, from the text that translate returns
	backtrack                // only by an engine with look-around, back references and the like
	vague                    // nobody knows what is meant
)

// translate returns a pattern of ECMA-262, read with the flag u, in the syntax of Go's
// engine. Escapes that only other engines have, such as \A and \Q, are vague: ECMA-262
// without the flag reads them as letters, and whoever wrote them did not mean that. What no
// reading of ECMA-262 has, such as (?i) and (?P<name>), stays as it is.
func translate(p string) (string, reading) {
	t := translator{rest: p}
	for t.rest != "" && t.how != vague {
		switch c := t.next(); c {
		case '\\':
			t.escape(false)
		case '[':
			t.class()
		case '.':
			t.out.WriteString("[^" + lineEnds + "]")
		default:
			t.out.WriteRune(c)
		}
	}
	return t.out.String(), t.how
}

type translator struct {
	rest string
	out  strings.Builder
	how  reading
}

// next takes one character.
func (t *translator) next() rune {
	c, n := utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[n:]
	return c
}

// joined returns a pattern in which \u{1f600} and \ud83d\ude00 are the character itself, and
// \u{41} is \u0041: as no engine here has them.
func joined(p string) string {
	var out strings.Builder
	for at := 0; at < len(p); {
		if p[at] != '\\' || at+1 == len(p) {
			out.WriteByte(p[at])
			at++
			continue
		}
		c, n := codePoint(p[at:])
		switch {
		case n == 0:
			n = 2
			out.WriteString(p[at : at+2])
		case c > 0xffff:
			out.WriteRune(c)
		default:
			fmt.Fprintf(&out, `\u%04x`, c)
		}
		at += n
	}
	return out.String()
}

// codePoint reads \u{1f600} or \ud83d\ude00; n is 0 where there is something else.
func codePoint(p string) (c rune, n int) {
	if digits, _, ok := strings.Cut(strings.TrimPrefix(p, `\u{`), "}"); ok && strings.HasPrefix(p, `\u{`) {
		number, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || number > utf8.MaxRune {
			return 0, 0
		}
		return rune(number), len(`\u{}`) + len(digits)
	}
	if len(p) < 12 || p[:2] != `\u` || p[6:8] != `\u` {
		return 0, 0
	}
	high, err := strconv.ParseUint(p[2:6], 16, 32)
	low, lowErr := strconv.ParseUint(p[8:12], 16, 32)
	if c = utf16.DecodeRune(rune(high), rune(low)); err != nil || lowErr != nil || c == utf8.RuneError { //nolint:gosec // four digits each
		return 0, 0
	}
	return c, 12
}

// class translates a class, behind its bracket.
func (t *translator) class() {
	negated := strings.HasPrefix(t.rest, "^")
	t.rest = strings.TrimPrefix(t.rest, "^")
	if strings.HasPrefix(t.rest, "]") { // [] is nothing, [^] everything
		t.rest = t.rest[1:]
		t.out.WriteString(map[bool]string{false: `[^\x{0}-\x{10ffff}]`, true: `[\x{0}-\x{10ffff}]`}[negated])
		return
	}
	t.out.WriteString(map[bool]string{false: "[", true: "[^"}[negated])
	for t.rest != "" && t.how != vague {
		switch c := t.next(); c {
		case ']':
			t.out.WriteByte(']')
			return
		case '\\':
			t.escape(true)
		case '[', '^':
			t.out.WriteString(`\` + string(c))
		default:
			t.out.WriteRune(c)
		}
	}
	t.how = vague // it has no end
}

// escape translates an escape, behind its backslash.
func (t *translator) escape(inClass bool) {
	if t.rest == "" {
		t.how = vague
		return
	}
	switch c := t.next(); c {
	case 'd', 'D', 'w', 'W', 't', 'n', 'v', 'f', 'r':
		t.out.WriteString(`\` + string(c))
	case 's':
		t.out.WriteString(map[bool]string{false: "[" + spaces + "]", true: spaces}[inClass])
	case 'S':
		if inClass {
			t.how = max(t.how, backtrack)
			return
		}
		t.out.WriteString("[^" + spaces + "]")
	case 'b', 'B':
		switch {
		case !inClass:
			t.out.WriteString(`\` + string(c))
		case c == 'b': // backspace
			t.out.WriteString(`\x08`)
		default:
			t.how = vague
		}
	case 'p', 'P':
		t.property(c)
	case 'u':
		t.character(t.hex(4))
	case 'x':
		t.character(t.hex(2))
	case 'c':
		letter := rune(0)
		if t.rest != "" {
			letter = t.next()
		}
		if letter|0x20 < 'a' || letter|0x20 > 'z' {
			t.how = vague
			return
		}
		t.character(letter%32, true)
	case '0':
		if t.rest != "" && t.rest[0] >= '0' && t.rest[0] <= '9' {
			t.how = vague
			return
		}
		t.character(0, true)
	case '1', '2', '3', '4', '5', '6', '7', '8', '9', 'k':
		t.how = max(t.how, backtrack)
	default:
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			t.how = vague
			return
		}
		t.out.WriteString(`\` + string(c))
	}
}

// property translates \p{L} and \p{Script=Greek}, behind the p.
func (t *translator) property(p rune) {
	name, rest, ok := strings.Cut(strings.TrimPrefix(t.rest, "{"), "}")
	if !strings.HasPrefix(t.rest, "{") || !ok || strings.HasPrefix(name, "^") {
		t.how = vague
		return
	}
	t.rest = rest
	kind, value, two := strings.Cut(name, "=")
	switch {
	case !two && len(name) <= 2: // a general category
	case two && (kind == "gc" || kind == "General_Category" || kind == "sc" || kind == "Script"):
		name = value
	default:
		t.how = max(t.how, backtrack)
		return
	}
	t.out.WriteString(`\` + string(p) + "{" + name + "}")
}

// character writes a character by its number, if there is one.
func (t *translator) character(c rune, ok bool) {
	if !ok {
		t.how = vague
		return
	}
	fmt.Fprintf(&t.out, `\x{%x}`, c)
}

// hex reads a number of n digits.
func (t *translator) hex(n int) (rune, bool) {
	if len(t.rest) < n {
		return 0, false
	}
	number, err := strconv.ParseUint(t.rest[:n], 16, 32)
	t.rest = t.rest[n:]
	return rune(number), err == nil //nolint:gosec // four digits at most
}
