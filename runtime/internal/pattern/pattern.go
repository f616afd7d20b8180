// Package pattern matches texts with the regular expressions of ECMA-262, as
// JSON Schemas have them.
package pattern

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// Matcher is a compiled pattern; String is its text in the schema. It may be
// used concurrently.
type Matcher interface {
	MatchString(s string) bool
	fmt.Stringer
}

// anything stands for a pattern that no engine here takes.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// Compile compiles a pattern: with Go's engine as far as that
// goes (it runs in linear time, so that no pattern can hang us), with a
// backtracking one where there is look-around or the like.
func Compile(p string) Matcher {
	if re, err := regexp.Compile(unicodeEscape(p)); err == nil {
		return linear{re, p}
	}
	re, err := regexp2.Compile(p, regexp2.ECMAScript)
	if err != nil {
		return anything(p) // the server may know what it means
	}
	re.MatchTimeout = matchTime
	return backtracking{re}
}

// Known reports whether a pattern is one that texts are held to.
func Known(p string) bool {
	_, vague := Compile(p).(anything)
	return !vague
}

// matchTime is how long a backtracking match may take; a text that needs more
// passes, as a server knows better than a client.
const matchTime = 100 * time.Millisecond

// backtracking is a pattern with look-around, back references and the like.
type backtracking struct{ *regexp2.Regexp }

func (b backtracking) MatchString(s string) bool {
	ok, err := b.Regexp.MatchString(s)
	return ok || err != nil
}

// linear is a compiled pattern that goes by its text in the schema.
type linear struct {
	*regexp.Regexp
	source string
}

func (p linear) String() string { return p.source }

// unicodeEscape turns \uXXXX into \x{XXXX}.
func unicodeEscape(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] != '\\' || i+1 == len(p):
			b.WriteByte(p[i])
		case p[i+1] == 'u' && i+6 <= len(p) && isHex(p[i+2:i+6]):
			b.WriteString(`\x{` + p[i+2:i+6] + `}`)
			i += 5
		default:
			b.WriteString(p[i : i+2])
			i++
		}
	}
	return b.String()
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
