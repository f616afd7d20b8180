package codegen

import (
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"
)

// Length checks how many characters, code points of Unicode, a text has. A
// negative most is no limit.
func Length[S ~string](s S, least, most int64) error {
	// The number of bytes bounds that of code points, and usually decides.
	if n := int64(len(s)); n/4 >= least && (most < 0 || n <= most) {
		return nil
	}
	return size(int64(utf8.RuneCountInString(string(s))), least, most, "character", "characters")
}

// Items checks how many items a list has. A negative most is no limit.
func Items(n int, least, most int64) error { return size(int64(n), least, most, "item", "items") }

// Properties checks how many members an object has. A negative most is no
// limit.
func Properties(n int, least, most int64) error {
	return size(int64(n), least, most, "member", "members")
}

func size(n, least, most int64, one, many string) error {
	word := func(n int64) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	switch {
	case n < least:
		return wrong(fmt.Sprintf("has %s, fewer than %d", word(n), least))
	case most >= 0 && n > most:
		return wrong(fmt.Sprintf("has %s, more than %d", word(n), most))
	}
	return nil
}

// Pattern is a regular expression that is compiled on first use. It may be used
// concurrently.
type Pattern struct {
	text string
	load func() (*regexp.Regexp, error)
}

// NewPattern returns the pattern of an expression of package regexp.
func NewPattern(text string) Pattern {
	return Pattern{text, sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(text) })}
}

// Match checks that a text has a match of the pattern somewhere. The error does
// not repeat the text: keys and tokens often have patterns.
func Match[S ~string](s S, p Pattern) error {
	re, err := p.load()
	switch {
	case err != nil:
		return wrong(err.Error())
	case !re.MatchString(string(s)):
		return wrong("does not match the pattern " + p.text)
	}
	return nil
}
