package plain

import (
	"slices"
	"strings"
)

// Nearest returns up to n of names that someone who wrote name may have meant,
// the likeliest first; none when nothing is close. Letters' case does not
// count, a swapped pair counts as one slip, and a name that begins with what
// was written, or has it as a word, is close.
func Nearest(name string, names []string, n int) []string {
	type scored struct {
		name  string
		score int
	}
	var nearby []scored
	want := fold(name)
	if want == "" || len(want) > 200 {
		return nil
	}
	for _, candidate := range names {
		have := fold(candidate)
		if len(have) > 200 {
			continue
		}
		score, limit := distance(want, have), slips(want, have)
		switch {
		case score <= limit:
		case len(want) >= 2 && strings.HasPrefix(have, want), len(have) >= 2 && strings.HasPrefix(want, have):
			score = limit + 1
		case len(want) >= 3 && strings.Contains(have, want):
			score = limit + 2
		default:
			continue
		}
		nearby = append(nearby, scored{candidate, score})
	}
	slices.SortStableFunc(nearby, func(a, b scored) int {
		if a.score != b.score {
			return a.score - b.score
		}
		return strings.Compare(a.name, b.name)
	})
	out := make([]string, 0, n)
	for _, c := range nearby {
		if len(out) < n && !slices.Contains(out, c.name) {
			out = append(out, c.name)
		}
	}
	return out
}

// NearestHint asks whether name was meant to be one of names. It returns otherwise where none is
// close.
func NearestHint(name string, names []string, otherwise string) string {
	if near := Nearest(name, names, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return otherwise
}

// IsSlip reports whether a name is another one but for slips: a letter or two too many, too few,
// wrong or swapped. A name that begins with the other is not, unless it is that near.
func IsSlip(name, other string) bool {
	a, b := fold(name), fold(other)
	return a != "" && max(len(a), len(b)) <= 200 && distance(a, b) <= slips(a, b)
}

// slips is how many slips two names may be apart.
func slips(a, b string) int {
	shorter := min(len(a), len(b))
	if shorter < 2 {
		return 0 // any two letters are one slip apart
	}
	return max(1, shorter/3)
}

// fold makes names that differ in case and in the kind of their separators
// equal, so that file_path is near filePath and file-path.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', ' ':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance is the number of letters inserted, dropped, replaced or swapped
// with their neighbour (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(last[j]+1, cur[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, last, cur = last, cur, before
	}
	return last[len(y)]
}
