//go:build attacks && linux

package attacks_test

import (
	"flag"
	"os"
	"testing"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/wire"
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
	case os.Getenv(browserEnv) != "":
		if issuer.Browse(os.Args[1]) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(wire.Main(m, program))
}

// TestSources has the suite run again when mcpctl is another.
func TestSources(t *testing.T) { wire.Sources(t) }
