package upstream

import (
	"errors"
	"testing"
)

// TestFaultNames: a failure names its server once, also where what went wrong
// says so already.
func TestFaultNames(t *testing.T) {
	for why, want := range map[string]string{
		"connect x: command not found":     "fs: connect x: command not found",
		"fs: connect x: command not found": "fs: connect x: command not found",
		"fsx: no":                          "fs: fsx: no",
	} {
		if got := (&Error{Server: "fs", Err: errors.New(why)}).Error(); got != want {
			t.Errorf("%q: got %q, want %q", why, got, want)
		}
	}
}
