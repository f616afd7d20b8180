package dial

import (
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// guard is the handler of one bare transport. Finding the era may cost a
// transport its life; only the end of the one that is kept is the end of the
// connection.
type guard struct {
	runtime.Handler

	mu    sync.Mutex // guards what follows
	kept  bool
	ended bool
	err   error
}

// Closed implements [runtime.Handler].
func (g *guard) Closed(err error) {
	g.mu.Lock()
	g.ended, g.err = true, err
	kept := g.kept
	g.mu.Unlock()
	if kept {
		g.Handler.Closed(err)
	}
}

// keep says that the transport is the connection's. It may have ended already.
func (g *guard) keep() {
	g.mu.Lock()
	g.kept = true
	ended, err := g.ended, g.err
	g.mu.Unlock()
	if ended {
		g.Handler.Closed(err)
	}
}
