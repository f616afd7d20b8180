package jsonschema

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// GoPattern returns a pattern of JSON Schema (ECMA-262) in Go's syntax; false
// where the two differ in meaning. Look-around, back references and classes that
// differ are left to the validator.
func GoPattern(pattern string) (string, bool) {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\':
			i++
			if i == len(pattern) {
				return "", false
			}
			switch e := pattern[i]; {
			case strings.IndexByte("dDwbBtnrfv", e) >= 0 || strings.IndexByte(`^$\.*+?()[]{}|/-`, e) >= 0:
				if e == 'b' && class {
					return "", false // a backspace there
				}
				if e == '/' {
					b.WriteByte('/')
					continue
				}
				b.WriteByte('\\')
				b.WriteByte(e)
			default:
				return "", false
			}
		case c == '[' && class:
			b.WriteString(`\[`)
		case c == '[':
			if strings.HasPrefix(pattern[i:], "[]") || strings.HasPrefix(pattern[i:], "[^]") {
				return "", false // empty classes
			}
			class = true
			b.WriteByte(c)
		case c == ']':
			if !class {
				return "", false
			}
			class = false
			b.WriteByte(c)
		case c == '.' && !class:
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		case c == '(' && !class && strings.HasPrefix(pattern[i:], "(?") && !strings.HasPrefix(pattern[i:], "(?:"):
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	text := b.String()
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return "", false
	}
	return text, true
}

// Matches reports whether a pattern is found in a name, and whether that is
// certain.
func Matches(pattern, name string) (yes, certain bool) {
	text, ok := GoPattern(pattern)
	if !ok {
		return false, false
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return false, false
	}
	return re.MatchString(name), true
}
