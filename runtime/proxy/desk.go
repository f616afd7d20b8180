package proxy

import (
	"sync"

	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Desk answers what servers ask and takes what they log without naming a call, and
// keeps the log levels of clients. All methods may be called concurrently.
type Desk struct {
	set *Set

	mu     sync.Mutex                 // guards levels
	levels map[*Client]revision.Level // that clients have asked for
}

func newDesk(set *Set) *Desk { return &Desk{set: set, levels: map[*Client]revision.Level{}} }

// forget drops the level of a client whose session is over.
func (d *Desk) forget(who *Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.levels, who)
}
