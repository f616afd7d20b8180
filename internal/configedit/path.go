package configedit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
)

// maxIndex bounds the index of an element.
const maxIndex = 9999

// Path leads to a value, by the names of members and the indexes of elements.
type Path []jsonedit.Step

// Names returns a path of names.
func Names(names ...string) Path {
	var p Path
	for _, n := range names {
		p = append(p, jsonedit.Step{Name: n})
	}
	return p
}

// ParsePath reads a path. The error says what is wrong at which character.
func ParsePath(text string) (Path, error) {
	var p Path
	for rest := text; rest != "" || p == nil; {
		at := utf8.RuneCountInString(text[:len(text)-len(rest)]) + 1
		wrong := func(why string) (Path, error) {
			return nil, fmt.Errorf("path %s: character %d: %s", strconv.Quote(text), at, why)
		}
		if p != nil && rest[0] == '.' {
			if rest = rest[1:]; strings.HasPrefix(rest, "[") {
				return wrong("want a name after the dot")
			}
		} else if p != nil && rest[0] != '[' {
			return wrong("want a dot or [")
		}
		var step jsonedit.Step
		switch {
		case strings.HasPrefix(rest, "[]"):
			step, rest = jsonedit.Step{Element: true, Index: jsonedit.End}, rest[2:]
		case strings.HasPrefix(rest, `["`):
			name, after, ok := quoted(rest[1:])
			if !ok || !strings.HasPrefix(after, "]") {
				return wrong(`want ["NAME"]`)
			}
			step.Name, rest = name, after[1:]
		case strings.HasPrefix(rest, "["):
			number, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(number)
			if !ok || err != nil || n < 0 || n > maxIndex || number != strconv.Itoa(n) {
				return wrong(`want [NUMBER], [] or ["NAME"]`)
			}
			step, rest = jsonedit.Step{Element: true, Index: n}, after
		case strings.HasPrefix(rest, `"`):
			name, after, ok := quoted(rest)
			if !ok {
				return wrong("the string does not end")
			}
			step.Name, rest = name, after
		default:
			end := strings.IndexFunc(rest, special)
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return wrong("want a name")
			}
			step.Name, rest = rest[:end], rest[end:]
		}
		if p == nil && step.Element {
			return wrong("a path begins with a name")
		}
		p = append(p, step)
	}
	return p, nil
}

// special reports whether a character ends a bare name.
func special(r rune) bool {
	return strings.ContainsRune(`.[]"`, r) || unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar
}

// quoted reads the JSON string that a text begins with.
func quoted(text string) (value, rest string, ok bool) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			err := json.Unmarshal([]byte(text[:i+1]), &value)
			return value, text[i+1:], err == nil
		}
	}
	return "", "", false
}

// String returns the path in the form of [ParsePath].
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Element && s.Index == jsonedit.End:
			b.WriteString("[]")
			continue
		case s.Element:
			fmt.Fprintf(&b, "[%d]", s.Index)
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if s.Name == "" || strings.ContainsFunc(s.Name, special) {
			raw, err := json.Marshal(s.Name)
			if err != nil {
				panic("configedit: a string has no JSON form: " + err.Error())
			}
			b.Write(raw)
			continue
		}
		b.WriteString(s.Name)
	}
	return b.String()
}
