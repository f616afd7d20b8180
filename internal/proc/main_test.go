package proc_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes this binary an actor, see actor_unix_test.go, where its first
// argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-act" {
		os.Exit(act(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}
