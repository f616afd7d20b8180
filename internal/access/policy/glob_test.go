package policy

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// asRegexp returns a glob as an expression.
func asRegexp(glob string) *regexp.Regexp {
	before, all := strings.CutSuffix(glob, "**")
	text := strings.ReplaceAll(regexp.QuoteMeta(before), `\*`, "[^/]*")
	if all {
		text += ".*"
	}
	return regexp.MustCompile("^" + text + "$")
}

// TestGlobs: globs match as the expressions do that say the same, and overlap and within
// are what all texts say that are tried.
func TestGlobs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(letters string, most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	var texts []string
	var matches, overlaps int
	for range 1000 {
		texts = append(texts, random("ab/", 7))
	}
	for range 1500 {
		glob := random("ab/*", 7)
		want := asRegexp(glob)
		pattern := random("ab/*", 5)
		holed := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		some, all := false, true
		for _, text := range texts {
			if got := match(glob, text); got != want.MatchString(text) {
				t.Fatalf("%q matches %q: %v", glob, text, got)
			} else if got {
				matches++
			}
			if holed.MatchString(text) {
				some = some || match(glob, text)
				all = all && match(glob, text)
			}
		}
		if some {
			overlaps++
		}
		if some && !overlap(glob, pattern) {
			t.Fatalf("%q and %q have a text, and do not overlap", glob, pattern)
		}
		if !all && within(glob, pattern) {
			t.Fatalf("not all of %q is within %q", pattern, glob)
		}
	}
	if matches < 1000 || overlaps < 200 {
		t.Errorf("%d matches, %d overlaps", matches, overlaps)
	}
}
