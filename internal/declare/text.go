package declare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// scope is the names of a module.
type scope struct{ taken map[string]bool }

func newScope(reserved []string) *scope {
	s := &scope{map[string]bool{}}
	for _, name := range reserved {
		s.taken[name] = true
	}
	return s
}

// unique returns a name that nothing else has.
func (s *scope) unique(name string) string {
	out := name
	for i := 2; s.taken[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	s.taken[out] = true
	return out
}

// identifier returns a name with _ in the place of what is no letter, digit or _ of ASCII.
func identifier(name string) string {
	out := strings.Map(func(r rune) rune {
		if isWord(r) || r == '_' {
			return r
		}
		return '_'
	}, name)
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	return out
}

func isIdentifier(name string) bool { return name != "" && identifier(name) == name }

// pascal returns the words of a name as one that begins with a capital letter.
func pascal(name string) string {
	var out strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !isWord(r) }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if text := out.String(); text != "" && text[0] > '9' {
		return text
	}
	return "X" + out.String()
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// quoteTS returns a text as a string of TypeScript.
func quoteTS(s string) string {
	return quote(s, func(r rune) string {
		if high, low := utf16.EncodeRune(r); r > 0xffff {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// quoteWide returns a text as a string of Python or Go.
func quoteWide(s string) string {
	return quote(s, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\U%08x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// quote returns a text between quotation marks. What cannot be seen is escaped.
func quote(s string, escape func(rune) string) string {
	var out strings.Builder
	out.WriteByte('"')
	before := rune(-1)
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case !unicode.IsPrint(r) || plain.IsHidden(r, before):
			out.WriteString(escape(r))
		default:
			out.WriteRune(r)
		}
		before = r
	}
	return out.String() + `"`
}

// distinct returns texts without those that are there before, with something between them.
func distinct(texts []string, between string) string {
	var out []string
	for _, text := range texts {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, between)
}
