package plain_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/plain"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aé", 3, "aé"}, {"aéb", 2, "a…"}, {"aéb", 3, "aé…"}, {"€", 1, "…"}, {"a\xffbc", 3, "ab…"},
	} {
		if got := plain.Clip(c.text, c.n); got != c.want {
			t.Errorf("%q, %d: got %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
