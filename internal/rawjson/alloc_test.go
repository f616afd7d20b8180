//go:build !race

// The race detector makes pools forget at random.

package rawjson_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

func TestScanDoesNotAllocate(t *testing.T) {
	text := []byte(call)
	var m rawjson.Message
	if n := testing.AllocsPerRun(200, func() {
		if rawjson.Scan(text, &m) != nil {
			t.Fatal("scan failed")
		}
	}); n > 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}
