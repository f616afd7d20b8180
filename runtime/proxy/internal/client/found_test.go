package client_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

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
