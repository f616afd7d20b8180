package cli

import (
	"runtime"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// heapRoom is how much more garbage may gather before it is collected, where a
// server is reached over HTTP. What serve has in use is 1 to 2 MB; the runtime
// then collects at 4 MB, and with some 9 KB of garbage that net/http and we
// leave for each such call that is 30 collections a second, a seventh of the
// CPU time. Unlike a higher percentage it costs the same however much is in use:
// at most twice this much memory, and none for itself, as nothing is ever
// written to it. Calls to processes leave next to nothing and need no room.
const heapRoom = 12 << 20

// room is memory that counts as in use and is never touched.
type room struct{ b []byte }

// roomFor makes room where an entry needs it, once. The caller keeps what it
// gives as long as it serves.
func (r *room) roomFor(entries []config.Entry) {
	if r.b != nil {
		return
	}
	for i := range entries {
		if entries[i].URL != "" {
			r.b = make([]byte, heapRoom) // holds no pointers: is not scanned either
			return
		}
	}
}

// keep is called when nothing is served any more: until then the room counts.
func (r *room) keep() { runtime.KeepAlive(r.b) }
