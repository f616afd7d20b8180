//go:build integration

package peers_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
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
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// Most of the time these tests wait for processes: more at once than there
	// are processors.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // a number, as the flag wants
	}
	// A program under the race detector sleeps for a second before it exits, in
	// case a race is still to be met: minutes, over all the runs here.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=20 "+os.Getenv("GORACE")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "mcpctl-peers-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mcpctl")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", raceFlag, "-o", binary, "github.com/mcpctl/mcpctl/cmd/mcpctl").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
