package plain_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// words returns all texts of some letters up to a length.
func words(letters string, length int) []string {
	all, last := []string{""}, []string{""}
	for range length {
		var next []string
		for _, w := range last {
			for _, r := range letters {
				next = append(next, w+string(r))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// TestMatch: all patterns and texts of few letters, as regular expressions match them.
func TestMatch(t *testing.T) {
	texts := words("ab", 4)
	for _, pattern := range words("ab*", 5) {
		quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")
		whole := regexp.MustCompile("^" + quoted + "$")
		for _, text := range texts {
			if got, want := plain.MatchGlob(pattern, text), whole.MatchString(text); got != want {
				t.Fatalf("%q, %q: got %v, want %v", pattern, text, got, want)
			}
		}
		for _, beginning := range words("ab", 2) {
			some, all := false, true
			for _, text := range words("abc", 4) {
				if strings.HasPrefix(text, beginning) {
					yes := whole.MatchString(text)
					some, all = some || yes, all && yes
				}
			}
			// Texts that are needed may be longer than those here.
			if plain.MatchGlobAll(pattern, beginning) != all || some && !plain.MatchGlobBegin(pattern, beginning) {
				t.Fatalf("%q, beginning %q: got some %v, all %v, want %v, %v", pattern, beginning, plain.MatchGlobBegin(pattern, beginning), plain.MatchGlobAll(pattern, beginning), some, all)
			}
			if !some && plain.MatchGlobBegin(pattern, beginning) && len(pattern) < 3 {
				t.Fatalf("%q matches nothing that begins with %q", pattern, beginning)
			}
		}
	}
}

// TestCharacters: what means something elsewhere stands for itself.
func TestCharacters(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"a?c", "a?c", true}, {"a?c", "abc", false}, {"[ab]", "a", false}, {"a/*", "a/b/c", true}, {"*\n*", "a\nb", true}, {"é*", "éa", true}, {"A", "a", false},
	} {
		if got := plain.MatchGlob(tc.pattern, tc.text); got != tc.want {
			t.Errorf("%q, %q: got %v", tc.pattern, tc.text, got)
		}
	}
}

// TestLong: a pattern and a text that take others an exponential time.
func TestLong(t *testing.T) {
	start := time.Now()
	if plain.MatchGlob(strings.Repeat("*a", 1000)+"*b", strings.Repeat("a", 100_000)) {
		t.Error("it matches")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if n := testing.AllocsPerRun(100, func() { plain.MatchGlob("a*b*c", "axxbxxc") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
