//go:build integration

package peers_test

import (
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
