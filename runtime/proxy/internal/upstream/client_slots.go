package upstream

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

	Ended atomic.Bool
	Life  context.Context //nolint:containedctx // the session's, ended by Proxy.leave
	End   context.CancelFunc

	RootsChanges atomic.Int64 // changes of the client's roots that servers are not told of yet

	Mu       sync.Mutex     // guards what follows, and replacing links
	Level    revision.Level // the log level it has asked for
	HasLevel bool
}

// assign notes over which link the client's calls to a backend go; it tells
// whether that is news.
func (o *clientState) assign(b *Backend, l *Slot) (news bool) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	var m map[*Backend]*Slot
	if old := o.slots.Load(); old != nil {
		if (*old)[b] == l {
			return false
		}
		m = maps.Clone(*old)
		maps.DeleteFunc(m, func(b *Backend, _ *Slot) bool { return b.IsReplaced() })
	} else {
		m = map[*Backend]*Slot{}
	}
	m[b] = l
	o.slots.Store(&m)
	return true
}

// ConnTo gives the connection that the client's calls to a backend go over where it
// is not everybody's, nil where that has to be found out.
func (o *clientState) ConnTo(b *Backend) *Conn {
	m := o.slots.Load()
	if m == nil {
		return nil
	}
	l := (*m)[b]
	if l == nil {
		return nil
	}
	return l.Ready.Load()
}

// Close ends the session. It reports false where that has been done.
func (p *Client) Close() bool {
	if p.State.Ended.Swap(true) {
		return false
	}
	p.State.End()
	return true
}

// Tell sends the client a notification that belongs to no request.
func (p *Client) Tell(method string, params []byte) {
	if p.SendLater != nil {
		p.SendLater(method, params)
		return
	}
	_ = p.Push(jsonrpc.AppendNotification(nil, method, params)) // nobody listens: nobody to tell
}

// Notify implements listener.
func (p *Client) Notify(method string, params []byte) { p.Tell(method, params) }
