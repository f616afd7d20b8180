package cli

import (
	"runtime"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// ballastSize is the size of the GC ballast, where a server is reached over HTTP. serve
// uses 1 to 2 MB; the runtime then collects at 4 MB, and with about 9 KB of garbage
// per such call, from net/http and us, that is 30 collections a second, a seventh of
// the CPU time. Unlike a higher GC percentage it costs the same however much is in
// use: at most twice this much memory, and none for itself, as it is never written
// to. Calls to processes leave hardly any garbage.
const ballastSize = 12 << 20

// ballast is a GC ballast: memory that counts as in use and is never touched.
type ballast struct{ bytes []byte }

// allocate allocates the ballast once an entry needs it.
func (b *ballast) allocate(entries []config.Entry) {
	if b.bytes != nil {
		return
	}
	for i := range entries {
		if entries[i].URL != "" {
			b.bytes = make([]byte, ballastSize) // no pointers: not scanned
			return
		}
	}
}

// keep keeps the ballast alive until here: call it when serving ends.
func (b *ballast) keep() { runtime.KeepAlive(b.bytes) }
