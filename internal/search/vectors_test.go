package search

import (
	"slices"
	"strings"
	"testing"
)

// TestVectors: each word of the list has a vector, and words about the same have nearly one
// direction.
func TestVectors(t *testing.T) {
	all := wordVectors()
	words := strings.Fields(all.words)
	if len(words) < 29_000 || !slices.IsSorted(words) || len(all.of) != len(words)*vectorSize {
		t.Fatalf("%d words, %d bytes", len(words), len(all.of))
	}
	for i, w := range words {
		if n, ok := all.find(w); !ok || n != i {
			t.Fatalf("%s is at %d, want %d", w, n, i)
		}
		if v := vectorOf(w); v == nil || !(v.length() > 0) {
			t.Fatalf("%s has no direction", w)
		}
	}
	for _, w := range []string{"", " ", "the of", "quuxblorb", "zzzzzz", "地图"} {
		if vectorOf(w) != nil {
			t.Errorf("%q has a vector", w)
		}
	}
	near := func(a, b string) float32 {
		x, y := directionOf(strings.Fields(a)), directionOf(strings.Fields(b))
		return x.dot(&y)
	}
	for _, c := range [][3]string{
		{"delete", "remove", "insert"},
		{"hotel", "lodging", "invoice"},
		{"give back borrowed money", "repay a loan", "read a file"},
		{"picture of the screen", "take a screenshot", "list tables"},
	} {
		if like, unlike := near(c[0], c[1]), near(c[0], c[2]); like < unlike+0.1 {
			t.Errorf("%q is %.2f like %q and %.2f like %q", c[0], like, c[1], unlike, c[2])
		}
	}
	if the, screen := vectorOf("the").length(), vectorOf("screenshot").length(); the > screen/2 {
		t.Errorf("the says %.0f, screenshot %.0f", the, screen)
	}
	if nothing := directionOf([]string{"quuxblorb"}); nothing != (vector{}) {
		t.Errorf("got %v", nothing)
	}
}
