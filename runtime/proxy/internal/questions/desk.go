package questions

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"sync"

	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Desk answers what servers ask and takes what they log without naming a call, and
// keeps the log levels of clients. All methods may be called concurrently.
type Desk struct {
	set *upstream.Set

	mu     sync.Mutex                          // guards levels
	levels map[*upstream.Client]revision.Level // that clients have asked for
}

func New(set *upstream.Set) *Desk {
	return &Desk{set: set, levels: map[*upstream.Client]revision.Level{}}
}

// Forget drops the level of a client whose session is over.
func (d *Desk) Forget(who *upstream.Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.levels, who)
}
