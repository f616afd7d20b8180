package proxy

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// clientState are what a client of the handshake era has in the proxy for as
// long as its session lasts.
type clientState struct {
	// slots are the connections that are not everybody's, replaced whole: the
	// quick path reads them without a lock.
	slots atomic.Pointer[map[*Backend]*Slot]

	ended atomic.Bool
	life  context.Context //nolint:containedctx // the session's, ended by Proxy.leave
	end   context.CancelFunc

	rootsChanges atomic.Int64 // changes of the client's roots that servers are not told of yet

	mu       sync.Mutex     // guards what follows, and replacing links
	level    revision.Level // the log level it has asked for
	hasLevel bool
}

// assign notes over which link the client's calls to a backend go; it tells
// whether that is news.
func (o *clientState) assign(b *Backend, l *Slot) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var m map[*Backend]*Slot
	if old := o.slots.Load(); old != nil {
		if (*old)[b] == l {
			return false
		}
		m = maps.Clone(*old)
		maps.DeleteFunc(m, func(b *Backend, _ *Slot) bool { return b.isReplaced() })
	} else {
		m = map[*Backend]*Slot{}
	}
	m[b] = l
	o.slots.Store(&m)
	return true
}

// connTo gives the connection that the client's calls to a backend go over where it
// is not everybody's, nil where that has to be found out.
func (o *clientState) connTo(b *Backend) *Conn {
	m := o.slots.Load()
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
func (p *Client) close() bool {
	if p.state.ended.Swap(true) {
		return false
	}
	p.state.end()
	return true
}

// tell sends the client a notification that belongs to no request.
func (p *Client) tell(method string, params []byte) {
	if p.sendLater != nil {
		p.sendLater(method, params)
		return
	}
	_ = p.push(jsonrpc.AppendNotification(nil, method, params)) // nobody listens: nobody to tell
}

// notify implements listener.
func (p *Client) notify(method string, params []byte) { p.tell(method, params) }
