package cli

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestHeapRoom: only servers over HTTP make room for garbage, once, and the
// collector counts it as in use.
func TestHeapRoom(t *testing.T) {
	var r room
	r.roomFor([]config.Entry{{Name: "a", Command: "a"}})
	if r.b != nil {
		t.Fatal("processes need no room")
	}
	before := heapGoal()
	r.roomFor([]config.Entry{{Name: "a", Command: "a"}, {Name: "b", URL: "http://127.0.0.1:1/mcp"}})
	if len(r.b) != heapRoom {
		t.Fatalf("room of %d bytes", len(r.b))
	}
	first := &r.b[0]
	if r.roomFor([]config.Entry{{Name: "c", URL: "http://127.0.0.1:1/mcp"}}); &r.b[0] != first {
		t.Error("room was made twice")
	}
	if after := heapGoal(); after < before+heapRoom {
		t.Errorf("garbage is collected at %d bytes, before at %d", after, before)
	}
	r.keep()
}

func heapGoal() uint64 {
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
