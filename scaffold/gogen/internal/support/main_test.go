package support_test

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain tells go/build where the standard library is. A test that was built with
// -trimpath does not know.
func TestMain(m *testing.M) {
	if build.Default.GOROOT == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, "go env GOROOT:", err)
			os.Exit(1)
		}
		build.Default.GOROOT = strings.TrimSpace(string(out))
	}
	m.Run()
}
