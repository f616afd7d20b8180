package cli

import (
	"runtime"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// heapRoom is the size of the GC ballast, where a server is reached over HTTP. serve
// uses 1 to 2 MB; the runtime then collects at 4 MB, and with about 9 KB of garbage
// per such call, from net/http and us, that is 30 collections a second, a seventh of
// the CPU time. Unlike a higher GC percentage it costs the same however much is in
// use: at most twice this much memory, and none for itself, as it is never written
// to. Calls to processes leave hardly any garbage.
const heapRoom = 12 << 20

// room is a GC ballast: memory that counts as in use and is never touched.
type room struct{ b []byte }

// roomFor allocates the ballast once an entry needs it.
func (r *room) roomFor(entries []config.Entry) {
	if r.b != nil {
		return
	}
	for i := range entries {
		if entries[i].URL != "" {
			r.b = make([]byte, heapRoom) // no pointers: not scanned
			return
		}
	}
}

// keep keeps the ballast alive until here: call it when serving ends.
func (r *room) keep() { runtime.KeepAlive(r.b) }
