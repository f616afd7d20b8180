//go:build attacks && linux

package attacks_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
)

var program = flag.String("mcpctl", "", "the program to test; it is built where none is given")

// TestMain makes this test binary act as a server, or as another program, when
// it is started as one.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(rogueEnv) != "":
		os.Exit(rogueMain(os.Getenv(rogueEnv)))
	case os.Getenv(hostile.Env) != "":
		os.Exit(hostile.Main(os.Args[1:], os.Stdin, os.NewFile(1, "out"), os.Stderr))
	case os.Getenv(actorEnv) != "":
		os.Exit(actorMain(os.Getenv(actorEnv), os.Args[1:]))
	}
	flag.Parse()
	// Most of the time these tests wait: more at once than there are processors.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // a number, as the flag wants
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if *program == "" {
		dir, err := os.MkdirTemp("", "attacks")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		*program = filepath.Join(dir, "mcpctl")
		build := exec.Command("go", "build", "-o", *program, "github.com/mcpctl/mcpctl/cmd/mcpctl")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
