package client_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

// TestFind: the best of a search stay, and what is found again stays longer.
func TestFind(t *testing.T) {
	t.Parallel()
	var cl client.Client
	for _, step := range []struct {
		found, want string
		news        bool
	}{
		{"a b c d e", "a b c", true}, // the best of five
		{"a b", "a b c", false},
		{"f", "a b f", true}, // c is the worst of what was found longest ago
		{"b", "a b f", false},
		{"g h", "b g h", true}, // b was found again
		{"", "b g h", false},
	} {
		if news := cl.Find(strings.Fields(step.found), 3); news != step.news {
			t.Errorf("after %q: news is %v", step.found, news)
		}
		if got := slices.Sorted(slices.Values(cl.Found())); strings.Join(got, " ") != step.want {
			t.Errorf("after %q: %q, want %q", step.found, got, step.want)
		}
	}
}

// TestTooLong: a session keeps the form of its list while the catalog grows and shrinks
// around the budget. What a session is told first depends on nothing else.
func TestTooLong(t *testing.T) {
	var session, other client.Client
	const budget = 10_000
	for i, step := range []struct {
		cost int
		long bool
	}{{9_900, false}, {10_100, false}, {12_000, false}, {12_001, true}, {10_100, true}, {8_001, true}, {8_000, false}, {12_000, false}, {40_000, true}} {
		if got := session.TooLong(step.cost, budget); got != step.long {
			t.Errorf("step %d: %d tokens are too long: %t", i, step.cost, got)
		}
		if other.TooLong(9_000, budget) {
			t.Errorf("step %d: what another session was told is taken for this", i)
		}
		if got, want := new(client.Client).TooLong(step.cost, budget), step.cost > budget; got != want {
			t.Errorf("step %d: at first, %d tokens are too long: %t", i, step.cost, got)
		}
	}
}
