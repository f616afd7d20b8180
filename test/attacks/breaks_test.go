package attacks_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
)

// TestBreaksFit keeps the list of breaks from going stale: each can still be
// made. That each turns its cases red is for make attacks-breaks.
func TestBreaksFit(t *testing.T) {
	t.Parallel()
	tree, err := breaks.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, b := range breakages() {
		if _, err := tree.Broken(b.below, b.edits...); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
		if len(b.cases) == 0 || b.defence == "" || seen[b.name] {
			t.Errorf("%s: it names no case or no defence, or is there twice", b.name)
		}
		seen[b.name] = true
	}
}
