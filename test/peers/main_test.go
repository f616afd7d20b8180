//go:build integration

package peers_test

import (
	"os"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/kit"
	"github.com/mcpctl/mcpctl/test/wire"
)

// binary is the mcpctl under test, built by TestMain.
var binary string

// TestMain makes this test binary act as one of the servers when it is started
// as such, else it builds mcpctl, under the race detector where the tests are.
func TestMain(m *testing.M) {
	switch {
	case runtimetest.IsFake():
		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv(sdkEnv) != "":
		os.Exit(sdkMain())
	case os.Getenv(kitEnv) != "":
		os.Exit(kit.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	// A program under the race detector sleeps for a second before it exits, in
	// case a race is still to be met: minutes, over all the runs here.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=20 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	os.Exit(wire.Main(m, &binary, raceFlag))
}

// TestSources has the suite run again when mcpctl is another.
func TestSources(t *testing.T) { wire.Sources(t) }
