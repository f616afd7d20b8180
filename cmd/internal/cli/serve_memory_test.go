package cli

import (
	"runtime/debug"
	"testing"
)

// TestIdleMemory: what a burst leaves is seen, and given back.
func TestIdleMemory(t *testing.T) {
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
