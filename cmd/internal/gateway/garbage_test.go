package gateway

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// TestHeapRoom: only servers over HTTP make room for garbage, once, and the
// collector counts it as in use.
func TestHeapSpace(t *testing.T) {
	var r ballast
	r.allocate([]config.Entry{{Name: "a", Command: "a"}})
	if r.bytes != nil {
		t.Fatal("processes need no room")
	}
	before := heapGoal()
	r.allocate([]config.Entry{{Name: "a", Command: "a"}, {Name: "b", URL: "http://127.0.0.1:1/mcp"}})
	if len(r.bytes) != ballastSize {
		t.Fatalf("room of %d bytes", len(r.bytes))
	}
	first := &r.bytes[0]
	if r.allocate([]config.Entry{{Name: "c", URL: "http://127.0.0.1:1/mcp"}}); &r.bytes[0] != first {
		t.Error("room was made twice")
	}
	if after := heapGoal(); after < before+ballastSize {
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

// TestStartSettles: the collector is relaxed until all servers that are connected at once
// are.
func TestStartSettles(t *testing.T) {
	settled := 0
	settle := func() { settled++ }
	var s start
	s.dialing()() // before serve knows how large its heap is
	s.settle.Store(&settle)
	first, second := s.dialing(), s.dialing()
	if first(); settled != 0 {
		t.Error("settled while a server is being connected")
	}
	if second(); settled != 1 {
		t.Errorf("settled %d times", settled)
	}
}
