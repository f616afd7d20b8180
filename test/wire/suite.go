package wire

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Parallel lets eight tests run at once, unless -parallel says otherwise: most of
// the time the tests of these suites wait.
func Parallel() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // a number, as the flag wants
	}
}

// Main runs tests, as [Parallel] does, of mcpctl as a program, which is built with
// flags where program names none. It returns the exit code.
func Main(m *testing.M, program *string, flags ...string) int {
	Parallel()
	if *program != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "mcpctl-suite-*")
	if err == nil {
		defer os.RemoveAll(dir)
		*program, err = Build(context.Background(), filepath.Join(dir, "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl", flags...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Eventually polls for what has no event of its own, and ends the test where it
// does not hold in time. What is printed then, with %v.
func Eventually(t testing.TB, within time.Duration, what any, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %v", within, what)
		}
	}
}

// Nightly reports whether the cases run that take long and rarely find anything:
// those of other people's programs, which change with their lock file alone.
func Nightly() bool { return os.Getenv("MCPCTL_NIGHTLY") != "" }
