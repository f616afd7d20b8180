package proctree

import (
	"fmt"
	"testing"
)

// TestParseStat: a name may be anything.
func TestParseStat(t *testing.T) {
	const rest = " S 12 34 34 0 -1 4194560 100 0 0 0 5 6 7 8 20 0 9 0 123456 1000000 77 18446744073709551615 1 1"
	for _, name := range []string{"node", "a b", ") R 1 1", "(", "((x) y)", ""} {
		got, ok := parseStat(fmt.Appendf(nil, "4321 (%s)%s\n", name, rest))
		want := Stat{PID: 4321, Parent: 12, Group: 34, State: 'S', Ticks: 26, Started: 123456, Pages: 77}
		if !ok || got != want {
			t.Errorf("%q: got %+v %v", name, got, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x) S 1 1", ") (", "(x) S", "x (y)" + rest} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: got %+v", bad, got)
		}
	}
}
