package cli

import (
	"runtime/debug"
	"testing"
)

// TestIdleMemory: what a burst leaves is seen, and given back.
func TestIdleMemory(t *testing.T) { //nolint:paralleltest // the percentage is the process's
	// The block itself makes a collection due, which now and then took it along.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	debug.FreeOSMemory()
	before := idleMemory()
	block := make([]byte, 128<<20)
	block[len(block)-1] = 1
	block = nil //nolint:ineffassign,wastedassign // the point: nobody has it any more
	during := idleMemory()
	debug.FreeOSMemory()
	if after := idleMemory(); during-before < 100<<20 || after-before > 32<<20 {
		t.Errorf("idle: %d MiB before, %d with garbage, %d after", before>>20, during>>20, after>>20)
	}
}

// While serve starts little garbage is looked for; after that, and where the user
// has said how, it is as always.
func TestStartLean(t *testing.T) { //nolint:paralleltest // the percentage is the process's
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	settle := startLean()
	if got := percent(); got != startGC {
		t.Errorf("at the start it is %d, want %d", got, startGC)
	}
	settle()
	settle()
	if got := percent(); got != 100 {
		t.Errorf("after it, it is %d, want 100", got)
	}
	debug.SetGCPercent(42)
	settle()
	startLean()()
	if got := percent(); got != 42 {
		t.Errorf("of 42, which somebody has set, it becomes %d", got)
	}
}
