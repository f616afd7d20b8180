package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/meter"

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/ability"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// Backend is one server behind the proxy and the connections to it. The primary
// one tells what the server offers; which one a client's request takes is told
// in pool.go.
type Backend struct {
	Set     *Set
	Log     *slog.Logger // names the server
	Name    string
	Primary *Slot // in the era that the server prefers

	// settings are as configured, with defaults filled in; replaced whole, see
	// Set.adopt.
	settings atomic.Pointer[Settings]

	Activity meter.Activity // of clients' requests

	// LegacyShared is the connection that all clients of the handshake era take, nil
	// where there is none or it depends on the client.
	LegacyShared atomic.Pointer[Conn]
	// ModernShared is the connection that plain calls of the stateless era take to a
	// server of the handshake era, nil where they cannot; see direct.
	ModernShared atomic.Pointer[Conn]
	// IsListed is set once what the server offers is in the lists of clients.
	IsListed atomic.Bool
	// ConnectedOnce is set once the primary connection was made: what is known before is
	// from an earlier process.
	ConnectedOnce  atomic.Bool
	Life           context.Context //nolint:containedctx // that of its connecting, ended by close
	end            context.CancelFunc
	replacedSignal chan struct{} // closed when it is taken out of use
	gone           chan struct{} // closed when what was idle then, or being connected, has ended

	Mu             sync.Mutex    // guards what follows and the links' own; held for memory work only
	Slots          map[Key]*Slot // besides the primary one
	busyConns      []*Conn       // that are no link's any more, and still have calls
	exclusives     uint64        // exclusive links ever made
	modern         bool          // the primary connection is of the modern era
	speaksBothEras bool          // the server speaks the handshake, too
	Remote         bool          // it shakes hands, and is no process of ours
	asksClients    bool          // it has asked a client something over the handshake's wire
	unattributed   bool          // and did not tell inside which call
	storedUsage    store.Usage   // what is kept of its use for processes to come
	storedDigest   uint64        // stands for the catalogue that is kept, 0 for none, see sumOf
	// storedCapabilities is what the server was told that it can ask when it listed what
	// is stored.
	storedCapabilities string
	// Verified is when the server was last seen to offer what is known, by
	// whatever process; zero for never.
	Verified  time.Time
	closed    bool
	Relisting relisting

	keptUntil time.Time // connections are kept until then, see hold
	restarts  uint64    // connections made in the place of one that was lost
	lastErr   error     // the latest failure or end of any link, nil for none
	failedAt  time.Time
}

func NewBackend(p *Set, set Settings) *Backend {
	b := &Backend{Set: p, Log: p.Log.With("server", set.Name), Name: set.Name, Slots: map[Key]*Slot{}, replacedSignal: make(chan struct{}), gone: make(chan struct{})}
	b.Life, b.end = context.WithCancel(p.Lifetime)
	b.SetSettings(set)
	b.Primary = &Slot{Backend: b, Key: Key{Server: set.Name, Capabilities: SharedOffer}}
	return b
}

// Config gives the backend's settings, defaults filled in.
func (b *Backend) Config() *Settings { return b.settings.Load() }

// SetSettings replaces the settings.
func (b *Backend) SetSettings(set Settings) {
	set = b.withDefaults(set)
	b.settings.Store(&set)
}

// withDefaults gives settings with defaults filled in.
func (b *Backend) withDefaults(set Settings) Settings {
	if set.Isolation == "" {
		set.Isolation = isolationAuto
	}
	if set.Start == "" {
		set.Start = startLazy
	}
	if set.RequestTimeout == 0 {
		set.RequestTimeout = b.Set.o.RequestTimeout
	}
	return set
}

// Failure tells why the backend cannot be used now, nil where nothing is known
// against it.
func (b *Backend) Failure() error {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.Primary.lastErr
}

// Call sends a request of a client and waits for the result. build makes it, and
// the client's side of it, for the connection that it goes over. The connection is
// that which served the request, nil where none could be had.
//
// Where the connection turns out to be gone before a byte was sent, or to speak
// otherwise than was settled, it is made anew, once: nothing has happened
// there yet.
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

// BuildRequest returns a request as a connection is to send it, and the client's
// side of it.
type BuildRequest func(*Conn) (*runtime.Request, Waiter, error)

func (b *Backend) tryTwice(ctx context.Context, from *Origin, build BuildRequest) ([]byte, *Conn, error) {
	for again := true; ; again = false {
		c, done, err := b.Acquire(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		method, result, err := b.over(ctx, c, from, build)
		done()
		for errors.Is(err, errIdleClosed) { // it was closed as idle in between: as if it had never been picked
			if c, done, err = b.Acquire(ctx, from); err != nil {
				return nil, nil, err
			}
			method, result, err = b.over(ctx, c, from, build)
			done()
		}
		switch {
		case !again || err == nil:
		case errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed):
			c.Slot.ConnLost(c, err)
			continue
		case c.isSuspicious(method, err) && c.Slot.suspect(c):
			b.Log.Info("backend does not speak as was settled: connecting anew", "err", err)
			continue
		}
		if _, ok := errors.AsType[*bridge.SessionError](err); ok {
			err = ownError(err)
		}
		return result, c, err
	}
}

func (b *Backend) over(ctx context.Context, c *Conn, from *Origin, build BuildRequest) (method string, result []byte, err error) {
	req, e, err := build(c)
	if err != nil {
		return "", nil, err
	}
	end, err := c.begin(e)
	if err != nil {
		return req.Method, nil, err
	}
	defer func() { end(ctx.Err() != nil) }()
	c.NoteClient(from.Client)
	result, err = c.Client.Transport().Call(ctx, req)
	return req.Method, result, err
}

// Resume goes on with a request that the connection has sent, and that the server
// has answered once: with a result, or an error.
func (c *Conn) Resume(ctx context.Context, build BuildRequest, first json.RawMessage, failure error) ([]byte, error) {
	req, e, err := build(c)
	if err != nil {
		return nil, err
	}
	end := c.enter(e)
	defer func() { end(ctx.Err() != nil) }()
	t, ok := c.Client.Transport().(ability.Resume)
	if !ok {
		return nil, fmt.Errorf("proxy: %T cannot resume a call", c.Client.Transport()) // such a connection is not quick
	}
	return t.Resume(ctx, req, first, failure)
}

// Connect connects the backend's primary slot, if it is not connected.
func (b *Backend) Connect(ctx context.Context) (*Conn, error) { return b.Primary.Acquire(ctx) }

// reconfigure replaces the settings of a backend whose connections stay.
func (b *Backend) reconfigure(set Settings) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.SetSettings(set)
	b.storedDigest = 0
	b.storedUsage = store.Usage{}
	b.publishFastPath()
}

// close ends the connections, and a connecting that is under way, for good.
func (b *Backend) close() {
	b.Mu.Lock()
	b.closed = true
	b.Relisting.stop()
	all := b.everySlot()
	var attempts []*dialing
	for _, l := range all {
		if l.attempt != nil {
			attempts = append(attempts, l.attempt)
		}
	}
	b.Mu.Unlock()
	b.end()
	var wg sync.WaitGroup
	for _, a := range attempts { // what it still connects it closes itself
		wg.Go(func() { <-a.done })
	}
	for _, l := range all {
		if c := l.Ready.Swap(nil); c != nil {
			wg.Go(func() { _ = c.Client.Close() })
		}
	}
	wg.Wait()
}

// backendHandler receives what a backend sends outside calls, or without
// telling inside which.
type backendHandler struct {
	runtime.NopHandler
	conn *Conn
}

// Notification implements [runtime.Handler].
func (h *backendHandler) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationToolsListChanged:
		h.conn.Slot.Backend.Changed(inventory.ListSet{Tools: true})
	case revision.NotificationPromptsListChanged:
		h.conn.Slot.Backend.Changed(inventory.ListSet{Prompts: true})
	case revision.NotificationResourcesListChanged:
		h.conn.Slot.Backend.Changed(inventory.ListSet{Resources: true})
	case revision.NotificationListenAcknowledged: // what changed before it was not told
		h.conn.Slot.Backend.Changed(inventory.ListSet{})
	case revision.NotificationMessage:
		h.conn.Slot.Backend.Set.Observer.Logged(h.conn, params)
	case revision.NotificationElicitationComplete:
		h.conn.completed(params)
	case revision.NotificationResourceUpdated:
		h.conn.Slot.Backend.Set.Observer.ResourceUpdated(h.conn.Slot, params)
	}
}

// Request implements [runtime.Handler].
func (h *backendHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return h.NopHandler.Request(ctx, call, method, params)
	}
	return h.conn.Slot.Backend.Set.Observer.Question(ctx, h.conn, method, params)
}

// Closed implements [runtime.Handler].
func (h *backendHandler) Closed(err error) { h.conn.Slot.ConnLost(h.conn, err) }

// TellsOfResources tells whether the server takes subscriptions.
func (c *Conn) TellsOfResources() bool {
	var offers struct {
		Resources struct {
			Subscribe bool `json:"subscribe"`
		} `json:"resources"`
	}
	return json.Unmarshal(c.Client.Info().Capabilities, &offers) == nil && offers.Resources.Subscribe
}
