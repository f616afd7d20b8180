package wire

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Parallel lets eight tests run at once, unless -parallel says otherwise: most of
// the time the tests of these suites wait.
func Parallel() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // a number, as the flag wants
	}
}

// Heard runs tests whose children get signals: what this process ignores because nohup has
// started it, or a shell in the background, they would ignore, too. What it handles, they
// begin with as usual.
type Heard struct{ M interface{ Run() int } }

// Run returns what the tests return.
func (h Heard) Run() int {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // nobody reads it: it goes on as before
		}
	}
	return h.M.Run()
}

// Main runs tests, as [Parallel] does, of mcpctl as a program, which is built with
// flags where program names none. It returns the exit code.
func Main(m *testing.M, program *string, flags ...string) int {
	Parallel()
	run := Heard{m}.Run
	if *program != "" {
		return run()
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
	return run()
}

// Sources looks at what mcpctl is built of. The go command takes the result of a suite
// for that of an earlier run unless a file has changed that a test has looked at, and
// does not know that the suite builds mcpctl.
func Sources(t *testing.T) {
	t.Helper()
	root, seen := filepath.Join("..", ".."), 0 // of a package below test
	var err error
	for _, dir := range []string{"cmd", "internal", "registry", "runtime", "scaffold", "schemas", "templates"} {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			seen++
			_, err = os.Stat(path) // unlike WalkDir, it is noted
			return err
		}))
	}
	if err != nil || seen < 100 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// Nightly reports whether the cases run that take long and rarely find anything:
// those of other people's programs, which change with their lock file alone.
func Nightly() bool { return os.Getenv("MCPCTL_NIGHTLY") != "" }
