package limits_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// TestPayer: who has the most pays, and of two with as much the one who wants more.
func TestPayer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held           map[string]int
		newcomer, want string
	}{
		{nil, "bob", "bob"},
		{map[string]int{"alice": 1, "bob": 9}, "alice", "bob"},
		{map[string]int{"alice": 1, "bob": 9}, "bob", "bob"},
		{map[string]int{"alice": 5, "bob": 5, "eve": 5}, "bob", "bob"},
		{map[string]int{"alice": 9, "": 1}, "", "alice"},
	} {
		if got := limits.Payer(c.held, c.newcomer); got != c.want {
			t.Errorf("%v, %q: %q pays, want %q", c.held, c.newcomer, got, c.want)
		}
	}
}
