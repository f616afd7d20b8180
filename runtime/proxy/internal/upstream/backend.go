package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/ability"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/meter"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// Backend is one server behind the proxy and the connections to it.
type Backend struct {
	Set      *Set
	Log      *slog.Logger // names the server
	Name     string
	Primary  *Slot                    // in the era that the server prefers; says what it offers
	settings atomic.Pointer[Settings] // as configured, with defaults; replaced whole
	Activity meter.Activity           // of clients' requests

	// LegacyShared is the connection that all clients of the handshake era take, nil
	// where there is none or it depends on the client.
	LegacyShared atomic.Pointer[Conn]
	// ModernShared is the connection that fast calls of the stateless era take to a
	// server of the handshake era, nil where they cannot.
	ModernShared atomic.Pointer[Conn]
	// IsListed is set once what the server offers is in the lists of clients.
	IsListed atomic.Bool
	// ConnectedOnce is set once the primary connection was made: what is known before
	// is from an earlier process.
	ConnectedOnce atomic.Bool

	life lifetime

	mu        sync.Mutex // guards what follows, life.closed and the slots; held for memory work only
	pool      pool
	known     known
	relisting relisting
}

// lifetime is that of a backend.
type lifetime struct {
	ctx      context.Context //nolint:containedctx // that of its connecting, ended by close
	end      context.CancelFunc
	closed   bool          // nothing connects any more; guarded by Backend.mu
	replaced chan struct{} // closed when another configuration takes it out of use
	gone     chan struct{} // closed when what was idle then, or being connected, has ended
}

// known is what is known of a server.
type known struct {
	era
	stored
}

// era is how a server speaks with its clients.
type era struct {
	modern       bool // the primary connection is of the modern era
	speaksBoth   bool // and the server speaks the handshake, too
	remote       bool // it shakes hands, and is no process of ours
	asksClients  bool // it has asked a client something in the handshake era
	unattributed bool // and did not say inside which call
}

// stored is what is kept of a server for processes to come.
type stored struct {
	usage        store.Usage
	digest       uint64    // stands for the catalogue that is kept, 0 for none, see sumOf
	capabilities string    // what the server was told that it can ask when it listed that
	verified     time.Time // when any process last saw it offer what is known; zero for never
}

// NewBackend returns a backend that is not connected.
func NewBackend(set *Set, of Settings) *Backend {
	b := &Backend{Set: set, Log: set.Log.With("server", of.Name), Name: of.Name, pool: pool{slots: map[Key]*Slot{}}}
	b.life = lifetime{replaced: make(chan struct{}), gone: make(chan struct{})}
	b.life.ctx, b.life.end = context.WithCancel(set.Lifetime)
	b.SetSettings(of)
	b.Primary = &Slot{Backend: b, Key: Key{Server: of.Name, Capabilities: SharedOffer}}
	return b
}

// Config returns the backend's settings, defaults filled in.
func (b *Backend) Config() *Settings { return b.settings.Load() }

// SetSettings replaces the settings.
func (b *Backend) SetSettings(set Settings) {
	set = set.WithDefaults(b.Set.o.RequestTimeout)
	b.settings.Store(&set)
}

// SetRemote notes whether the server is no process of ours.
func (b *Backend) SetRemote(remote bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known.remote = remote
}

// Failure returns why the backend cannot be used now, nil where nothing is known
// against it.
func (b *Backend) Failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Primary.attempts.lastErr
}

// BuildRequest returns a request as a connection is to send it, and the client's
// side of it.
type BuildRequest func(*Conn) (*runtime.Request, Waiter, error)

// Call sends a request of a client and waits for the result. The connection is
// the one that served the request, nil if there was none.
//
// Where the connection turns out to be gone before a byte was sent, or the server
// to speak otherwise than before, the call is repeated over a new one, once:
// nothing has happened there yet.
func (b *Backend) Call(ctx context.Context, from *Origin, build BuildRequest) (result []byte, by *Conn, err error) {
	if b.Activity.InFlight() >= limits.MaxBackendServing {
		return nil, nil, limits.ErrBackendBusy
	}
	start := time.Now()
	b.Activity.Began(start)
	result, by, err = b.tryTwice(ctx, from, build)
	b.Activity.Ended(start, time.Now(), err != nil)
	return result, by, err
}

func (b *Backend) tryTwice(ctx context.Context, from *Origin, build BuildRequest) ([]byte, *Conn, error) {
	for again := true; ; again = false {
		c, method, result, err := b.try(ctx, from, build)
		for errors.Is(err, errIdleClosed) { // it was closed as idle in between: as if it had never been picked
			c, method, result, err = b.try(ctx, from, build)
		}
		switch {
		case !again || err == nil || c == nil:
		case errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed):
			c.Slot.ConnLost(c, err)
			continue
		case c.isSuspicious(method, err) && c.Slot.suspect(c):
			b.Log.Info("backend does not speak as was settled: connecting anew", "err", err)
			continue
		}
		if _, ok := errors.AsType[*bridge.SessionError](err); ok && c != nil {
			err = ownError(err)
		}
		return result, c, err
	}
}

func (b *Backend) try(ctx context.Context, from *Origin, build BuildRequest) (c *Conn, method string, result []byte, err error) {
	c, done, err := b.Acquire(ctx, from)
	if err != nil {
		return nil, "", nil, err
	}
	defer done()
	req, w, err := build(c)
	if err != nil {
		return c, "", nil, err
	}
	end, err := c.calls.begin(c, w)
	if err != nil {
		return c, req.Method, nil, err
	}
	defer func() { end(ctx.Err() != nil) }()
	c.NoteClient(from.Client)
	result, err = c.Client.Transport().Call(ctx, req)
	return c, req.Method, result, err
}

// Connect connects the backend's primary slot, if it is not connected.
func (b *Backend) Connect(ctx context.Context) (*Conn, error) { return b.Primary.Acquire(ctx) }

// close ends the connections, and dialing that is under way, for good.
func (b *Backend) close() {
	b.mu.Lock()
	b.life.closed = true
	b.relisting.stop()
	all := b.everySlot()
	var dialings []*dialing
	for _, s := range all {
		if s.attempts.current != nil {
			dialings = append(dialings, s.attempts.current)
		}
	}
	b.mu.Unlock()
	b.life.end()
	var wg sync.WaitGroup
	for _, a := range dialings { // what it still connects it closes itself
		wg.Go(func() { <-a.done })
	}
	for _, s := range all {
		if c := s.Ready.Swap(nil); c != nil {
			wg.Go(func() { _ = c.Client.Close() })
		}
	}
	wg.Wait()
}

// noteEra notes what a new connection says of the server's era. The caller holds
// the lock.
func (b *Backend) noteEra(c *Conn) {
	if c.Slot == b.Primary {
		legacy := false
		for _, v := range c.Client.Info().Versions {
			legacy = legacy || !revision.IsModern(v)
		}
		b.known.modern = c.Modern()
		b.known.remote = !c.Modern() && c.Pipe == nil
		b.known.speaksBoth = c.Modern() && legacy
	} else if c.Slot.Key.Legacy && sessionless(c.Client.Transport()) {
		// Such a server can neither ask in the client's era nor be told of a
		// cancel: the stateless era has all that it has, and these.
		b.Log.Info("backend keeps no session after a handshake: its other era is used")
		b.known.speaksBoth = false
	}
	b.publishFastPath()
}

// speaksBoth reports whether clients of the handshake era are better served in
// their own.
func (b *Backend) speaksBoth() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known.speaksBoth
}

// sessionless reports whether a connection over HTTP that began with a handshake
// has no session.
func sessionless(t runtime.Transport) bool {
	for range 4 { // wrappers
		if s, ok := t.(ability.SessionID); ok {
			return s.SessionID() == ""
		}
		u, ok := t.(ability.Unwrap)
		if !ok {
			return false
		}
		t = u.Unwrap()
	}
	return false
}

// SetAsksClients notes that the server has asked a client something over a
// connection that it may share with others; unattributed says that nothing tells
// to which call the question belongs. A session that has used the connection alone
// so far keeps it, with the state that the server has for it. What is noted is
// kept for processes to come, where there is a store.
func (b *Backend) SetAsksClients(c *Conn, unattributed bool) {
	if c.Modern() {
		return // its questions are answers to calls
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known.asksClients {
		b.Log.Info("backend asks its clients")
	}
	b.known.asksClients, b.known.unattributed = true, b.known.unattributed || unattributed
	c.reserved = c.reserved || c.onlyClient() != nil
	b.publishFastPath()
}

// publishFastPath publishes over which connections fast calls go; nil: SelectSlot
// decides. The caller holds the lock.
func (b *Backend) publishFastPath() {
	var c *Conn
	s, isolation := b.Primary, b.Config().Isolation
	if b.known.speaksBoth {
		s = b.pool.slots[Key{Server: b.Name, Legacy: true, Capabilities: SharedOffer}]
	}
	private := isolation == settings.IsolationSession || isolation == settings.IsolationAuto && b.known.asksClients && (b.known.speaksBoth || !b.known.modern)
	if s != nil && !private {
		c = s.Ready.Load()
	}
	b.LegacyShared.Store(c)
	// See SelectSlot, for a caller of the modern era.
	if c = b.Primary.Ready.Load(); c != nil &&
		(!c.takesFastCalls() || b.known.asksClients && (isolation == settings.IsolationAuto || isolation == settings.IsolationSession)) {
		c = nil
	}
	b.ModernShared.Store(c)
}

// backendHandler receives what a backend sends outside calls, or without saying
// inside which.
type backendHandler struct {
	runtime.NopHandler
	conn *Conn
}

func (h *backendHandler) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	b := h.conn.Slot.Backend
	switch method {
	case revision.NotificationToolsListChanged:
		b.Changed(inventory.ListSet{Tools: true})
	case revision.NotificationPromptsListChanged:
		b.Changed(inventory.ListSet{Prompts: true})
	case revision.NotificationResourcesListChanged:
		b.Changed(inventory.ListSet{Resources: true})
	case revision.NotificationListenAcknowledged: // what changed before it was not said
		b.Changed(inventory.ListSet{})
	case revision.NotificationMessage:
		b.Set.Observer.Logged(h.conn, params)
	case revision.NotificationElicitationComplete:
		h.conn.completed(params)
	case revision.NotificationResourceUpdated:
		b.Set.Observer.ResourceUpdated(h.conn.Slot, params)
	}
}

func (h *backendHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return h.NopHandler.Request(ctx, call, method, params)
	}
	return h.conn.Slot.Backend.Set.Observer.Question(ctx, h.conn, method, params)
}

func (h *backendHandler) Closed(err error) { h.conn.Slot.ConnLost(h.conn, err) }
