//go:build faults && linux

package faults_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/wire"
)

var (
	program    = flag.String("mcpctl", "", "the program to test; it is built where none is given")
	raceFlag   = flag.Bool("product-race", false, "build it under the race detector")
	soak       = flag.Duration("soak", 0, "run TestSoak for so long")
	auditKills = flag.Int("audit-kills", 20, "how often TestAuditKilled kills serve, with each durability of the audit log")
	seed       = flag.Uint64("seed", 0, "of what TestSoak does at random; 0 is the time")
)

// TestMain makes this test binary act as a server when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(hostile.Env) != "" {
		os.Exit(hostile.Main(os.Args[1:], os.Stdin, os.NewFile(1, "out"), os.Stderr))
	}
	flag.Parse()
	os.Exit(wire.Main(m, program, fmt.Sprintf("-race=%t", *raceFlag)))
}

// factor is how much more memory a program may take under the race detector.
func factor() int {
	if *raceFlag {
		return 10
	}
	return 1
}

// Bounds of the suite. They are wide, for machines under load: what they catch
// is what never comes.
const (
	// requestTimeout is what servers are given for a request; patient is for those
	// that answer each, however much they say before, and for their start: that takes
	// what the machine takes.
	requestTimeout = 3 * time.Second
	patient        = wire.Limit
	// slack is what the machine may add before a request is answered.
	slack = 10 * 2 * requestTimeout
	// returned is how much more memory a process may have after everything than
	// before, in MiB: caches, stacks, and what the runtime keeps.
	returned = 120
)

// TestSources has the suite run again when mcpctl is another.
func TestSources(t *testing.T) { wire.Sources(t) }
