package upstream

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
)

// Client is one client of the handshake era for as long as its session lasts, with
// what it has of backends.
type Client struct {
	client.Client
	State clientState
}

// NewClient returns a client before initialize.
func NewClient(push func(frame []byte) error) *Client {
	cl := &Client{}
	cl.Init(push)
	cl.State.Life, cl.State.End = context.WithCancel(context.Background())
	return cl
}

// Close ends the session. It reports false where that has been done.
func (cl *Client) Close() bool {
	if cl.State.Ended.Swap(true) {
		return false
	}
	cl.State.End()
	return true
}

// clientState is what a client of the handshake era has in the proxy for as long as
// its session lasts.
type clientState struct {
	// slots are the connections that are not everybody's, replaced whole: the
	// fast path reads them without a lock.
	slots atomic.Pointer[map[*Backend]*Slot]

	Ended atomic.Bool
	Life  context.Context //nolint:containedctx // the session's, ended by Close
	End   context.CancelFunc

	RootsChanges atomic.Int64 // changes of the client's roots that servers are not told of yet

	mu       sync.Mutex     // guards what follows, and replacing slots
	level    revision.Level // the log level it has asked for
	hasLevel bool
}

// assign notes over which slot the client's calls to a backend go; it reports
// whether that is news.
func (st *clientState) assign(b *Backend, s *Slot) (news bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	m := map[*Backend]*Slot{}
	if old := st.slots.Load(); old != nil {
		if (*old)[b] == s {
			return false
		}
		m = maps.Clone(*old)
		maps.DeleteFunc(m, func(b *Backend, _ *Slot) bool { return b.IsReplaced() })
	}
	m[b] = s
	st.slots.Store(&m)
	return true
}

// ConnTo returns the connection that the client's calls to a backend go over where
// it is not everybody's, nil where that has to be found out.
func (st *clientState) ConnTo(b *Backend) *Conn {
	m := st.slots.Load()
	if m == nil {
		return nil
	}
	s := (*m)[b]
	if s == nil {
		return nil
	}
	return s.Ready.Load()
}

// LogLevel returns the level that the client has asked for, false where it has not.
func (st *clientState) LogLevel() (revision.Level, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.level, st.hasLevel
}

// SetLogLevel notes the level that the client has asked for.
func (st *clientState) SetLogLevel(l revision.Level) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.level, st.hasLevel = l, true
}
