package proxy

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// belongings are what a client of the handshake era has in the proxy for as
// long as its session lasts.
type belongings struct {
	// links are the connections that are not everybody's, replaced whole: the
	// quick path reads them without a lock.
	links atomic.Pointer[map[*backend]*link]

	ended atomic.Bool
	life  context.Context //nolint:containedctx // the session's, ended by Proxy.leave
	end   context.CancelFunc

	rootsNews atomic.Int64 // changes of the client's roots that servers are not told of yet

	mu      sync.Mutex     // guards what follows, and replacing links
	level   revision.Level // the log level it has asked for
	leveled bool
}

// lead notes over which link the client's calls to a backend go; it tells
// whether that is news.
func (o *belongings) lead(b *backend, l *link) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var m map[*backend]*link
	if old := o.links.Load(); old != nil {
		if (*old)[b] == l {
			return false
		}
		m = maps.Clone(*old)
		maps.DeleteFunc(m, func(b *backend, _ *link) bool { return b.hasLeft() })
	} else {
		m = map[*backend]*link{}
	}
	m[b] = l
	o.links.Store(&m)
	return true
}

// to gives the connection that the client's calls to a backend go over where it
// is not everybody's, nil where that has to be found out.
func (o *belongings) to(b *backend) *connection {
	m := o.links.Load()
	if m == nil {
		return nil
	}
	l := (*m)[b]
	if l == nil {
		return nil
	}
	return l.ready.Load()
}

// close ends the session. It reports false where that has been done.
func (p *peer) close() bool {
	if p.belongings.ended.Swap(true) {
		return false
	}
	p.belongings.end()
	return true
}

// tell sends the client a notification that belongs to no request.
func (p *peer) tell(method string, params []byte) {
	if p.told != nil {
		p.told(method, params)
		return
	}
	_ = p.push(jsonrpc.AppendNotification(nil, method, params)) // nobody listens: nobody to tell
}

// notify implements listener.
func (p *peer) notify(method string, params []byte) { p.tell(method, params) }
