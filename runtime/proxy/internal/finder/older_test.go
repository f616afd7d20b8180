package finder

import (
	"strings"
	"testing"
)

// TestOlder: a missing number of a version is 0.
func TestOlder(t *testing.T) {
	t.Parallel()
	for pair, want := range map[string]bool{
		"2.1 2.1.7": true, "2.1.7 2.1": false, "2 2.0.0": false, "1.9 2": true, "10.0 9.9": false, "2.1.6 2.1.7": true, "x 2.1": false, "2.1 2.1.x": false,
	} {
		version, than, _ := strings.Cut(pair, " ")
		if got := older(version, than); got != want {
			t.Errorf("%s: %v", pair, got)
		}
	}
}
