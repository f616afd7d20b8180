package attacks_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
)

const module = "../.."

// madeBreaks are the breakages as package breaks makes them.
func madeBreaks() (all []breaks.Break) {
	for _, b := range breakages() {
		all = append(all, breaks.Break{Name: b.name, Below: b.below, Edits: b.edits, Red: b.cases})
	}
	return all
}

// TestBreaksFit keeps the list of breaks from going stale: each can still be
// made. That each turns its cases red is for make attacks-breaks.
func TestBreaksFit(t *testing.T) {
	t.Parallel()
	breaks.Fit(t, module, madeBreaks())
	for _, b := range breakages() {
		if b.defence == "" {
			t.Errorf("%s: it names no defence", b.name)
		}
	}
}
