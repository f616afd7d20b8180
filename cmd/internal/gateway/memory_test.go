package gateway

import (
	"runtime/debug"
	"testing"
)

// TestIdleMemory: the garbage of a burst is measured and returned.
func TestIdleMemory(t *testing.T) { //nolint:paralleltest // the percentage is the process's
	// Allocating the block may trigger a collection, which would free it.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	debug.FreeOSMemory()
	before := idleMemory()
	block := make([]byte, 128<<20)
	block[len(block)-1] = 1
	block = nil //nolint:ineffassign,wastedassign // makes it garbage
	during := idleMemory()
	debug.FreeOSMemory()
	if after := idleMemory(); during-before < 100<<20 || after-before > 32<<20 {
		t.Errorf("idle: %d MiB before, %d with garbage, %d after", before>>20, during>>20, after>>20)
	}
}

// TestGivesBack: a quiet process returns more than a busy one, and memory that could
// not be returned the last time does not count.
func TestGivesBack(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, tt := range map[string]struct {
		left, now   heapUse
		busy, quiet bool
	}{
		"at the start":                {heapUse{}, heapUse{2 * mb, 20 * mb}, false, false},
		"after 2,000 streams":         {heapUse{2 * mb, 20 * mb}, heapUse{20 * mb, 35 * mb}, false, true},
		"what calls leave":            {heapUse{2 * mb, 20 * mb}, heapUse{9 * mb, 30 * mb}, false, false},
		"after large messages":        {heapUse{2 * mb, 20 * mb}, heapUse{65 * mb, 70 * mb}, true, true},
		"large ones, not yet garbage": {heapUse{2 * mb, 20 * mb}, heapUse{2 * mb, 90 * mb}, true, true},
		"in pieces":                   {heapUse{15 * mb, 20 * mb}, heapUse{20 * mb, 20 * mb}, false, false},
	} {
		if busy, quiet := tt.left.shouldRelease(tt.now, false), tt.left.shouldRelease(tt.now, true); busy != tt.busy || quiet != tt.quiet {
			t.Errorf("%s: busy %v, quiet %v; want %v, %v", name, busy, quiet, tt.busy, tt.quiet)
		}
	}
}

// While serve starts garbage is collected less; after that, or with GOGC set, as
// usual.
func TestStartLean(t *testing.T) { //nolint:paralleltest // the percentage is the process's
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	settle := relaxGC()
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
	relaxGC()()
	if got := percent(); got != 42 {
		t.Errorf("of 42, which somebody has set, it becomes %d", got)
	}
}
