package proxy

import (
	"sync"

	"github.com/mcpctl/mcpctl/runtime/revision"
)

// desk answers what servers ask and takes what they log without naming a call, and
// keeps the log levels of clients. All methods may be called concurrently.
type desk struct {
	set *backends

	mu     sync.Mutex               // guards levels
	levels map[*peer]revision.Level // that clients have asked for
}

func newDesk(set *backends) *desk { return &desk{set: set, levels: map[*peer]revision.Level{}} }

// forget drops the level of a client whose session is over.
func (d *desk) forget(who *peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.levels, who)
}
