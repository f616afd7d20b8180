package proxy

import (
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
	set     *Set
	log     *slog.Logger // names the server
	name    string
	primary *Slot // in the era that the server prefers

	// settings are as configured, with defaults filled in; replaced whole, see
	// Set.adopt.
	settings atomic.Pointer[settings]

	activity activity // of clients' requests

	// legacyShared is the connection that all clients of the handshake era take, nil
	// where there is none or it depends on the client.
	legacyShared atomic.Pointer[Conn]
	// modernShared is the connection that plain calls of the stateless era take to a
	// server of the handshake era, nil where they cannot; see direct.
	modernShared atomic.Pointer[Conn]
	// isListed is set once what the server offers is in the lists of clients.
	isListed atomic.Bool
	// connectedOnce is set once the primary connection was made: what is known before is
	// from an earlier process.
	connectedOnce  atomic.Bool
	life           context.Context //nolint:containedctx // that of its connecting, ended by close
	end            context.CancelFunc
	replacedSignal chan struct{} // closed when it is taken out of use
	gone           chan struct{} // closed when what was idle then, or being connected, has ended

	mu             sync.Mutex    // guards what follows and the links' own; held for memory work only
	slots          map[key]*Slot // besides the primary one
	busyConns      []*Conn       // that are no link's any more, and still have calls
	exclusives     uint64        // exclusive links ever made
	modern         bool          // the primary connection is of the modern era
	speaksBothEras bool          // the server speaks the handshake, too
	remote         bool          // it shakes hands, and is no process of ours
	asksClients    bool          // it has asked a client something over the handshake's wire
	unattributed   bool          // and did not tell inside which call
	storedUsage    store.Usage   // what is kept of its use for processes to come
	storedDigest   uint64        // stands for the catalogue that is kept, 0 for none, see sumOf
	// storedCapabilities is what the server was told that it can ask when it listed what
	// is stored.
	storedCapabilities string
	// verified is when the server was last seen to offer what is known, by
	// whatever process; zero for never.
	verified  time.Time
	closed    bool
	relisting relisting

	keptUntil time.Time // connections are kept until then, see hold
	restarts  uint64    // connections made in the place of one that was lost
	lastErr   error     // the latest failure or end of any link, nil for none
	failedAt  time.Time
}

func newBackend(p *Set, set settings) *Backend {
	b := &Backend{set: p, log: p.log.With("server", set.Name), name: set.Name, slots: map[key]*Slot{}, replacedSignal: make(chan struct{}), gone: make(chan struct{})}
	b.life, b.end = context.WithCancel(p.lifetime)
	b.setSettings(set)
	b.primary = &Slot{backend: b, key: key{Server: set.Name, Capabilities: sharedOffer}}
	return b
}

// config gives the backend's settings, defaults filled in.
func (b *Backend) config() *settings { return b.settings.Load() }

// setSettings replaces the settings.
func (b *Backend) setSettings(set settings) {
	set = b.withDefaults(set)
	b.settings.Store(&set)
}

// withDefaults gives settings with defaults filled in.
func (b *Backend) withDefaults(set settings) settings {
	if set.Isolation == "" {
		set.Isolation = isolationAuto
	}
	if set.Start == "" {
		set.Start = startLazy
	}
	if set.RequestTimeout == 0 {
		set.RequestTimeout = b.set.o.RequestTimeout
	}
	return set
}

// failure tells why the backend cannot be used now, nil where nothing is known
// against it.
func (b *Backend) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.primary.lastErr
}

// call sends a request of a client and waits for the result. build makes it, and
// the client's side of it, for the connection that it goes over. The connection is
// that which served the request, nil where none could be had.
//
// Where the connection turns out to be gone before a byte was sent, or to speak
// otherwise than was settled, it is made anew, once: nothing has happened
// there yet.
func (b *Backend) call(ctx context.Context, from *Origin, build buildRequest) (result []byte, by *Conn, err error) {
	if b.activity.inFlight() >= maxBackendServing {
		return nil, nil, errBackendBusy
	}
	start := time.Now()
	b.activity.began(start)
	result, by, err = b.tryTwice(ctx, from, build)
	b.activity.ended(start, time.Now(), err != nil)
	return result, by, err
}

// buildRequest returns a request as a connection is to send it, and the client's
// side of it.
type buildRequest func(*Conn) (*runtime.Request, Waiter, error)

func (b *Backend) tryTwice(ctx context.Context, from *Origin, build buildRequest) ([]byte, *Conn, error) {
	for again := true; ; again = false {
		c, done, err := b.acquire(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		method, result, err := b.over(ctx, c, from, build)
		done()
		for errors.Is(err, errIdleClosed) { // it was closed as idle in between: as if it had never been picked
			if c, done, err = b.acquire(ctx, from); err != nil {
				return nil, nil, err
			}
			method, result, err = b.over(ctx, c, from, build)
			done()
		}
		switch {
		case !again || err == nil:
		case errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed):
			c.slot.connLost(c, err)
			continue
		case c.isSuspicious(method, err) && c.slot.suspect(c):
			b.log.Info("backend does not speak as was settled: connecting anew", "err", err)
			continue
		}
		if _, ok := errors.AsType[*bridge.SessionError](err); ok {
			err = ownError(err)
		}
		return result, c, err
	}
}

func (b *Backend) over(ctx context.Context, c *Conn, from *Origin, build buildRequest) (method string, result []byte, err error) {
	req, e, err := build(c)
	if err != nil {
		return "", nil, err
	}
	end, err := c.begin(e)
	if err != nil {
		return req.Method, nil, err
	}
	defer func() { end(ctx.Err() != nil) }()
	c.noteClient(from.client)
	result, err = c.client.Transport().Call(ctx, req)
	return req.Method, result, err
}

// resume goes on with a request that the connection has sent, and that the server
// has answered once: with a result, or an error.
func (c *Conn) resume(ctx context.Context, build buildRequest, first json.RawMessage, failure error) ([]byte, error) {
	req, e, err := build(c)
	if err != nil {
		return nil, err
	}
	end := c.enter(e)
	defer func() { end(ctx.Err() != nil) }()
	t, ok := c.client.Transport().(ability.Resume)
	if !ok {
		return nil, fmt.Errorf("proxy: %T cannot resume a call", c.client.Transport()) // such a connection is not quick
	}
	return t.Resume(ctx, req, first, failure)
}

// connect connects the backend's primary slot, if it is not connected.
func (b *Backend) connect(ctx context.Context) (*Conn, error) { return b.primary.acquire(ctx) }

// reconfigure replaces the settings of a backend whose connections stay.
func (b *Backend) reconfigure(set settings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setSettings(set)
	b.storedDigest = 0
	b.storedUsage = store.Usage{}
	b.publishFastPath()
}

// close ends the connections, and a connecting that is under way, for good.
func (b *Backend) close() {
	b.mu.Lock()
	b.closed = true
	b.relisting.stop()
	all := b.everySlot()
	var attempts []*dialing
	for _, l := range all {
		if l.attempt != nil {
			attempts = append(attempts, l.attempt)
		}
	}
	b.mu.Unlock()
	b.end()
	var wg sync.WaitGroup
	for _, a := range attempts { // what it still connects it closes itself
		wg.Go(func() { <-a.done })
	}
	for _, l := range all {
		if c := l.ready.Swap(nil); c != nil {
			wg.Go(func() { _ = c.client.Close() })
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
		h.conn.slot.backend.changed(changeKinds{tools: true})
	case revision.NotificationPromptsListChanged:
		h.conn.slot.backend.changed(changeKinds{prompts: true})
	case revision.NotificationResourcesListChanged:
		h.conn.slot.backend.changed(changeKinds{resources: true})
	case revision.NotificationListenAcknowledged: // what changed before it was not told
		h.conn.slot.backend.changed(changeKinds{})
	case revision.NotificationMessage:
		h.conn.slot.backend.set.observer.logged(h.conn, params)
	case revision.NotificationElicitationComplete:
		h.conn.completed(params)
	case revision.NotificationResourceUpdated:
		h.conn.slot.backend.set.observer.resourceUpdated(h.conn.slot, params)
	}
}

// Request implements [runtime.Handler].
func (h *backendHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return h.NopHandler.Request(ctx, call, method, params)
	}
	return h.conn.slot.backend.set.observer.question(ctx, h.conn, method, params)
}

// Closed implements [runtime.Handler].
func (h *backendHandler) Closed(err error) { h.conn.slot.connLost(h.conn, err) }

// tellsOfResources tells whether the server takes subscriptions.
func (c *Conn) tellsOfResources() bool {
	var offers struct {
		Resources struct {
			Subscribe bool `json:"subscribe"`
		} `json:"resources"`
	}
	return json.Unmarshal(c.client.Info().Capabilities, &offers) == nil && offers.Resources.Subscribe
}
