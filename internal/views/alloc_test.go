//go:build !race

// The race detector makes pools forget at random.

package views_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestAllocations: what is asked for each request of a client without a session allocates nothing.
func TestAllocations(t *testing.T) {
	s, err := views.New(map[string]views.Config{
		"a": {Groups: []string{"eng"}, Tools: []string{"gh__*", "!*_delete_*"}, Override: map[string]views.Override{"gh__t": {Title: "T"}}},
		"b": {Clients: []string{"x*", "*y*z"}},
	}, "b")
	require.NoError(t, err)
	in := func(group string) bool { return group == "qa" }
	arguments := []byte(`{"a":1}`)
	if n := testing.AllocsPerRun(100, func() {
		c, _ := s.Choose("", in, "a client y and z")
		v := s.View(c.View)
		tool := v.Tool("gh__t")
		if !v.Shows(views.Tool, "gh__t", false) || !v.MayShow(views.Tool, "gh__") || tool.Rewrites() {
			t.Fatal("it is another view")
		}
		_, _ = tool.Rewrite(arguments)
		s.View("a").Shows(views.Tool, "gh__t", false)
	}); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
