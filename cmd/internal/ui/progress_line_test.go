package ui

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
)

// TestProgressLine: a number without a total stands alone, and not beside a text.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	total := 4.0
	for _, x := range []struct {
		state runtime.Progress
		want  string
	}{
		{runtime.Progress{Progress: 0.001, Message: "Gathering sources..."}, "Gathering sources..."},
		{runtime.Progress{Progress: 3}, "3"},
		{runtime.Progress{Progress: 1, Total: &total, Message: "read"}, "[#####---------------]  25% read"},
	} {
		if got := line(x.state, 80); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}
