package eras_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/wire"
)

var update = flag.Bool("update", false, "rewrite test/reports/eras.md and testdata/wire")

// TestMain makes this test binary act as a server when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(sdkEnv) != "" {
		os.Exit(serveSDK(os.Stdin, os.Stdout))
	}
	if runtimetest.IsFake() && os.Getenv(tapAddress) != "" {
		os.Exit(serveTapped(os.Args[1]))
	}
	if runtimetest.IsFake() {
		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	wire.Parallel()
	// A program under the race detector sleeps for a second before it exits, in
	// case a race is still to be met: minutes, over all the servers here.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(wire.Recording{M: m})
}
