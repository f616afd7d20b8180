package schema

import (
	"fmt"
	"regexp"
	"time"

	"github.com/dlclark/regexp2"
)

// patternMatcher is a compiled pattern; String is its text in the schema. It may be
// used concurrently.
type patternMatcher interface {
	MatchString(s string) bool
	fmt.Stringer
}

// anything stands for a pattern that no engine here takes.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// compilePattern compiles a pattern: for Go's engine as far as that goes (it runs in linear time, so
// that no pattern can hang us), for a backtracking one where there is look-around or the
// like. A pattern that means one thing in ECMA-262 and something else to whoever wrote it
// takes any text.
func compilePattern(p string) patternMatcher {
	joined := joined(p)
	text, how := translate(joined)
	if how == vague {
		return anything(p)
	}
	if how == asGo {
		if re, err := regexp.Compile(text); err == nil {
			return linear{re, p}
		}
	}
	re, err := regexp2.Compile(joined, regexp2.ECMAScript)
	if err != nil {
		return anything(p) // the server may know what it means
	}
	re.MatchTimeout = matchTime
	return backtracking{re, p}
}

// knownPattern reports whether a pattern is one that texts are held to.
func knownPattern(p string) bool {
	_, vague := compilePattern(p).(anything)
	return !vague
}

// matchTime is how long a backtracking match may take; a text that needs more
// passes, as a server knows better than a client.
const matchTime = 100 * time.Millisecond

// backtracking is a pattern with look-around, back references and the like.
type backtracking struct {
	*regexp2.Regexp
	source string
}

func (b backtracking) String() string { return b.source }

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
