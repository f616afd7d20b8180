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
