package secret

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestForms: assignments, schemes and known beginnings are found as regular expressions
// find them. Those would have to be compiled by every command.
func TestForms(t *testing.T) {
	t.Parallel()
	var (
		assigned = regexp.MustCompile(`^(-{0,2}[A-Za-z_][A-Za-z0-9_.-]*)(=|: *)`)
		scheme   = regexp.MustCompile(`^[A-Za-z][A-Za-z-]* +`)
		begins   = regexp.MustCompile(`^(?:gh[opsur]_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|pk_live_|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ|npm_|pypi-|hf_|ntn_|lin_api_|dop_v1_|figd_|shpat_|SG\.|-----BEGIN )`)
	)
	const signs = "aZ9_.-=: /ä{}"
	pieces := append(strings.Split(signs, ""), strings.Split(known, "|")...)
	found := [3]int{}
	for range 20_000 {
		var b strings.Builder
		for range rand.IntN(9) {
			b.WriteString(pieces[rand.IntN(len(pieces))])
		}
		text := b.String()

		name, at := assignment(text)
		wantName, wantAt := "", -1
		if m := assigned.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text[len(m[0]):], "//") {
			wantName, wantAt = m[1], len(m[0])
			found[0]++
		}
		if name != wantName || at != wantAt {
			t.Fatalf("assignment(%q) = %q, %d, want %q, %d", text, name, at, wantName, wantAt)
		}
		want := len(scheme.FindString(text))
		if got := AfterScheme(text); got != want {
			t.Fatalf("AfterScheme(%q) = %d, want %d", text, got, want)
		} else if got > 0 {
			found[1]++
		}
		long := text + strings.Repeat("/ ", knownLength) // of no other form
		if got, want := LooksText(long), begins.MatchString(text); got != want && !strings.Contains(long, "://") {
			t.Fatalf("LooksText(%q) = %v, want %v", long, got, want)
		} else if want {
			found[2]++
		}
	}
	for i, n := range found {
		if n < 100 {
			t.Errorf("form %d was in %d texts only", i, n)
		}
	}
}
