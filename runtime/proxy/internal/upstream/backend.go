package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// Backend is one server behind the proxy and the connections to it.
type Backend struct {
	Activity Activity // of clients' requests; first: what every call writes begins at a cache line
	Set      *Set
	Log      *slog.Logger // names the server
	Name     string
	Primary  *Slot                    // in the era that the server prefers; says what it offers
	settings atomic.Pointer[Settings] // as configured, with defaults; replaced whole

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

	Pool      Pool      // the connections to it
	Lists     Lists     // the asking for its lists again
	Persisted Persisted // what is kept of it for processes to come

	life lifetime
}

// lifetime is that of a backend.
type lifetime struct {
	ctx      context.Context //nolint:containedctx // that of its connecting, ended by close
	end      context.CancelFunc
	replaced chan struct{} // closed when another configuration takes it out of use
	gone     chan struct{} // closed when what was idle then, or being connected, has ended
}

// NewBackend returns a backend that is not connected.
func NewBackend(set *Set, of Settings) *Backend {
	b := &Backend{Set: set, Log: set.Log.With("server", of.Name), Name: of.Name}
	b.Pool = Pool{b: b, slots: slots{}}
	b.Lists.b, b.Persisted.b = b, b
	b.life = lifetime{replaced: make(chan struct{}), gone: make(chan struct{})}
	b.life.ctx, b.life.end = context.WithCancel(set.Lifetime)
	b.SetSettings(of)
	b.Primary = &Slot{Backend: b, Key: Everybodys(of.Name, false)}
	return b
}

// Config returns the backend's settings, defaults filled in.
func (b *Backend) Config() *Settings { return b.settings.Load() }

// SetSettings replaces the settings.
func (b *Backend) SetSettings(set Settings) {
	set = set.WithDefaults(b.Set.o.RequestTimeout)
	b.settings.Store(&set)
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
func (b *Backend) Call(ctx context.Context, from *Caller, build BuildRequest) (result []byte, conn *Conn, err error) {
	if b.Activity.InFlight() >= limits.MaxBackendServing {
		return nil, nil, limits.ErrBackendBusy
	}
	start := time.Now()
	b.Activity.Began(start)
	result, conn, err = b.tryTwice(ctx, from, build)
	b.Activity.Ended(start, time.Now(), err != nil)
	return result, conn, err
}

func (b *Backend) tryTwice(ctx context.Context, from *Caller, build BuildRequest) ([]byte, *Conn, error) {
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
		if _, ok := errors.AsType[*negotiate.SessionError](err); ok && c != nil {
			err = localError(err)
		}
		return result, c, err
	}
}

func (b *Backend) try(ctx context.Context, from *Caller, build BuildRequest) (c *Conn, method string, result []byte, err error) {
	c, done, err := b.Pool.Acquire(ctx, from)
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
	c.RecordClient(from.Client)
	result, err = c.Client.Transport().Call(ctx, req)
	return c, req.Method, b.Activity.Results.Noted(req.Method, result), err
}

// refreshAge is how old what a server was seen to offer may be, by whatever
// process, without being looked at again.
const refreshAge = 10 * time.Minute

// Outdated reports whether what is known of the backend is old, because it has not
// been connected yet or a list could not be had, and it has not failed a moment
// ago.
func (b *Backend) Outdated(now time.Time) bool {
	if set := b.Config(); !b.IsListed.Load() || set.Start == StartCached || set.PerPrincipal {
		return false
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	s := b.Primary
	if b.Pool.closed || s.attempts.current != nil || now.Before(s.attempts.retryAt) {
		return false
	}
	_, lacking := b.Lists.state()
	if b.ConnectedOnce.Load() && (!lacking || s.Ready.Load() != nil) {
		return false
	}
	age := now.Sub(b.Persisted.lastVerified()) // less than nothing where the clock was set back
	return lacking || age >= refreshAge || age < -SetBack
}

// Start connects the backend if it is always to be connected, or nothing is known of what it
// offers and clients may see it. It is to be called when the backend is new to a proxy that
// has begun, or set to that.
func (b *Backend) Start() {
	b.Primary.Start()
	sees := b.Set.sees.Load()
	if sees == nil || b.Config().PerPrincipal || b.Config().Start == StartCached || b.ConnectedOnce.Load() || !(*sees)(b) {
		return
	}
	if b.Due(nil, time.Now(), 0) == DueWait {
		b.Connect(nil)
	}
}

// Start connects the slot if it is wanted though nobody calls over it.
func (s *Slot) Start() {
	s.Backend.Pool.mu.Lock()
	defer s.Backend.Pool.mu.Unlock()
	s.reconnect(0)
}

// LoggedIn makes the next call connect the backend again, and lists at
// once: a principal has logged in to it, "" for the one whose credentials are for all,
// and what is connected may be somebody else's or nobody's.
func (b *Backend) LoggedIn(principal string) {
	b.Pool.mu.Lock()
	var tellers []*Slot
	for _, s := range b.Pool.everySlot() {
		if principal != "" && principal != s.Key.Principal {
			continue
		}
		if s.isDiscovery() {
			tellers = append(tellers, s)
		}
		s.attempts.failures, s.attempts.retryAt, s.attempts.breaker = 0, time.Time{}, Breaker{}
		if !b.Pool.closed {
			b.retire(s)
		}
	}
	b.Pool.mu.Unlock()
	for _, s := range tellers {
		_, _ = s.join(true) // who needs it learns how that ends
	}
}

// retire takes the connection of a slot out of use, if there is one; calls in flight go
// on. The caller holds the lock.
func (b *Backend) retire(s *Slot) {
	c := s.Ready.Swap(nil)
	if c == nil {
		return
	}
	b.Pool.publishFastPath()
	b.Set.Work.Go(func() { c.drain(b.Set.Lifetime) })
}

// close ends the connections, and dialing that is under way, for good.
func (b *Backend) close() {
	b.Pool.mu.Lock()
	b.Pool.closed = true
	b.Lists.stop()
	all := b.Pool.everySlot()
	var dialings []*dialing
	for _, s := range all {
		if s.attempts.current != nil {
			dialings = append(dialings, s.attempts.current)
		}
	}
	b.Pool.mu.Unlock()
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
		b.Lists.RecordChanged(h.conn, inventory.ListSet{Tools: true})
	case revision.NotificationPromptsListChanged:
		b.Lists.RecordChanged(h.conn, inventory.ListSet{Prompts: true})
	case revision.NotificationResourcesListChanged:
		b.Lists.RecordChanged(h.conn, inventory.ListSet{Resources: true})
	case revision.NotificationListenAcknowledged: // what changed before it was not said
		b.Lists.Changed(inventory.ListSet{})
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
