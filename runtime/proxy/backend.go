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

// backend is one server behind the proxy and the connections to it. The primary
// one tells what the server offers; which one a client's request takes is told
// in pool.go.
type backend struct {
	p       *backends
	log     *slog.Logger // names the server
	name    string
	primary *link // in the era that the server prefers

	// settings are as configured, with defaults filled in; replaced whole, see
	// Set.adopt.
	settings atomic.Pointer[settings]

	activity activity // of clients' requests

	// common is the connection that all clients of the handshake era take, nil
	// where there is none or it depends on the client.
	common atomic.Pointer[connection]
	// plain is the connection that plain calls of the stateless era take to a
	// server of the handshake era, nil where they cannot; see direct.
	plain atomic.Pointer[connection]
	// known is set once what the server offers is in the lists of clients.
	known atomic.Bool
	// met is set once the primary connection was made: what is known before is
	// from an earlier process.
	met  atomic.Bool
	life context.Context //nolint:containedctx // that of its connecting, ended by close
	end  context.CancelFunc
	left chan struct{} // closed when it is taken out of use
	gone chan struct{} // closed when what was idle then, or being connected, has ended

	mu      sync.Mutex    // guards what follows and the links' own; held for memory work only
	links   map[key]*link // besides the primary one
	going   []*connection // that are no link's any more, and still have calls
	singles uint64        // exclusive links ever made
	modern  bool          // the primary connection is of the modern era
	dual    bool          // the server speaks the handshake, too
	remote  bool          // it shakes hands, and is no process of ours
	asks    bool          // it has asked a client something over the handshake's wire
	untold  bool          // and did not tell inside which call
	kept    store.Usage   // what is kept of its use for processes to come
	stored  uint64        // stands for the catalogue that is kept, 0 for none, see sumOf
	// storedOffer is what the server was told that it can ask when it listed what
	// is stored.
	storedOffer string
	// verified is when the server was last seen to offer what is known, by
	// whatever process; zero for never.
	verified time.Time
	closed   bool
	lists    relisting

	heldUntil time.Time // connections are kept until then, see hold
	restarts  uint64    // connections made in the place of one that was lost
	lastErr   error     // the latest failure or end of any link, nil for none
	failedAt  time.Time
}

func newBackend(p *backends, set settings) *backend {
	b := &backend{p: p, log: p.log.With("server", set.Name), name: set.Name, links: map[key]*link{}, left: make(chan struct{}), gone: make(chan struct{})}
	b.life, b.end = context.WithCancel(p.lifetime)
	b.adjust(set)
	b.primary = &link{b: b, key: key{Server: set.Name, Capabilities: sharedOffer}}
	return b
}

// set gives the backend's settings, defaults filled in.
func (b *backend) set() *settings { return b.settings.Load() }

// adjust replaces the settings.
func (b *backend) adjust(set settings) {
	set = b.filled(set)
	b.settings.Store(&set)
}

// filled gives settings with defaults filled in.
func (b *backend) filled(set settings) settings {
	if set.Isolation == "" {
		set.Isolation = isolationAuto
	}
	if set.Start == "" {
		set.Start = startLazy
	}
	if set.RequestTimeout == 0 {
		set.RequestTimeout = b.p.o.RequestTimeout
	}
	return set
}

// failure tells why the backend cannot be used now, nil where nothing is known
// against it.
func (b *backend) failure() error {
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
func (b *backend) call(ctx context.Context, from *caller, build buildRequest) (result []byte, by *connection, err error) {
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
type buildRequest func(*connection) (*runtime.Request, waiter, error)

func (b *backend) tryTwice(ctx context.Context, from *caller, build buildRequest) ([]byte, *connection, error) {
	for again := true; ; again = false {
		c, done, err := b.acquire(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		method, result, err := b.over(ctx, c, from, build)
		done()
		for errors.Is(err, errDismissed) { // it was closed as idle in between: as if it had never been picked
			if c, done, err = b.acquire(ctx, from); err != nil {
				return nil, nil, err
			}
			method, result, err = b.over(ctx, c, from, build)
			done()
		}
		switch {
		case !again || err == nil:
		case errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed):
			c.link.lost(c, err)
			continue
		case c.doubtful(method, err) && c.link.doubt(c):
			b.log.Info("backend does not speak as was settled: connecting anew", "err", err)
			continue
		}
		if _, ok := errors.AsType[*bridge.SessionError](err); ok {
			err = ours(err)
		}
		return result, c, err
	}
}

func (b *backend) over(ctx context.Context, c *connection, from *caller, build buildRequest) (method string, result []byte, err error) {
	req, e, err := build(c)
	if err != nil {
		return "", nil, err
	}
	end, err := c.begin(e)
	if err != nil {
		return req.Method, nil, err
	}
	defer func() { end(ctx.Err() != nil) }()
	c.usedBy(from.peer)
	result, err = c.client.Transport().Call(ctx, req)
	return req.Method, result, err
}

// resume goes on with a request that the connection has sent, and that the server
// has answered once: with a result, or an error.
func (c *connection) resume(ctx context.Context, build buildRequest, first json.RawMessage, failure error) ([]byte, error) {
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
func (b *backend) connect(ctx context.Context) (*connection, error) { return b.primary.acquire(ctx) }

// readjust replaces the settings of a backend whose connections stay.
func (b *backend) readjust(set settings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.adjust(set)
	b.stored = 0
	b.kept = store.Usage{}
	b.expose()
}

// close ends the connections, and a connecting that is under way, for good.
func (b *backend) close() {
	b.mu.Lock()
	b.closed = true
	b.lists.stop()
	all := b.everyLink()
	var attempts []*attempt
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
	conn *connection
}

// Notification implements [runtime.Handler].
func (h *backendHandler) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	switch method {
	case revision.NotificationToolsListChanged:
		h.conn.link.b.changed(changeKinds{tools: true})
	case revision.NotificationPromptsListChanged:
		h.conn.link.b.changed(changeKinds{prompts: true})
	case revision.NotificationResourcesListChanged:
		h.conn.link.b.changed(changeKinds{resources: true})
	case revision.NotificationListenAcknowledged: // what changed before it was not told
		h.conn.link.b.changed(changeKinds{})
	case revision.NotificationMessage:
		h.conn.link.b.p.observer.logged(h.conn, params)
	case revision.NotificationElicitationComplete:
		h.conn.completed(params)
	case revision.NotificationResourceUpdated:
		h.conn.link.b.p.observer.resourceUpdated(h.conn.link, params)
	}
}

// Request implements [runtime.Handler].
func (h *backendHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return h.NopHandler.Request(ctx, call, method, params)
	}
	return h.conn.link.b.p.observer.question(ctx, h.conn, method, params)
}

// Closed implements [runtime.Handler].
func (h *backendHandler) Closed(err error) { h.conn.link.lost(h.conn, err) }

// tellsOfResources tells whether the server takes subscriptions.
func (c *connection) tellsOfResources() bool {
	var offers struct {
		Resources struct {
			Subscribe bool `json:"subscribe"`
		} `json:"resources"`
	}
	return json.Unmarshal(c.client.Info().Capabilities, &offers) == nil && offers.Resources.Subscribe
}
