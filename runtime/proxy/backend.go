package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/store"
)

// backend is one server behind the proxy and the connections to it. The primary
// one tells what the server offers; which one a client's request takes is told
// in pool.go.
type backend struct {
	p       *Proxy
	name    string
	primary *link // in the era that the server prefers

	// settings are as configured, with defaults filled in; replaced whole, see
	// Proxy.Reconfigure.
	settings atomic.Pointer[Server]

	activity activity // of clients' requests

	// common is the connection that all clients of the handshake era take, nil
	// where there is none or it depends on the client.
	common atomic.Pointer[connection]
	// plain is the connection that plain calls of the stateless era take to a
	// server of the handshake era, nil where they cannot; see direct.
	plain atomic.Pointer[connection]
	// known is set once what the server offers is in the snapshot.
	known atomic.Bool
	// met is set once the primary connection was made: what is known before is
	// from an earlier process.
	met atomic.Bool
	// catalog is what it last offered, nil before the first time; guarded by
	// Proxy.mu.
	catalog *catalog
	// shelves are what it adds to the lists, as of the latest snapshot; guarded by
	// Proxy.mu.
	shelves [kinds]*shelf

	// out tells that it is in no configuration any more, inherited that catalog
	// is of the backend in whose place it came, renamed that what it offers has
	// had names of the other form; guarded by Proxy.mu.
	out, inherited, renamed bool

	life context.Context //nolint:containedctx // that of its connecting, ended by close
	end  context.CancelFunc
	left chan struct{} // closed when it is taken out of use
	gone chan struct{} // closed when what was idle then, or being connected, has ended

	mu      sync.Mutex    // guards what follows and the links' own; held for memory work only
	links   map[Key]*link // besides the primary one
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

func newBackend(p *Proxy, set Server) *backend {
	b := &backend{p: p, name: set.Name, links: map[Key]*link{}, left: make(chan struct{}), gone: make(chan struct{})}
	b.life, b.end = context.WithCancel(p.lifetime)
	b.adjust(set)
	b.primary = &link{b: b, key: Key{Server: set.Name, Capabilities: sharedOffer}}
	return b
}

// set gives the backend's settings, defaults filled in.
func (b *backend) set() *Server { return b.settings.Load() }

// adjust replaces the settings.
func (b *backend) adjust(set Server) {
	set = b.filled(set)
	b.settings.Store(&set)
}

// filled gives settings with defaults filled in.
func (b *backend) filled(set Server) Server {
	if set.Isolation == "" {
		set.Isolation = IsolationAuto
	}
	if set.Start == "" {
		set.Start = StartLazy
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

// call sends a request of a client and waits for the result. build makes it for
// the connection that it goes over; events is the client's side of it.
//
// Where the connection turns out to be gone before a byte was sent, or to speak
// otherwise than was settled, it is made anew, once: nothing has happened
// there yet.
func (b *backend) call(ctx context.Context, events *relay, build func(*connection) (*runtime.Request, error)) (served, error) {
	if events.from.sent != nil { // and has been counted, see direct.first
		return b.tryTwice(ctx, events, build)
	}
	if b.activity.inFlight() >= maxBackendServing {
		return served{}, errBackendBusy
	}
	start := time.Now()
	b.activity.began(start)
	s, err := b.tryTwice(ctx, events, build)
	b.activity.ended(start, time.Now(), err != nil)
	return s, err
}

func (b *backend) tryTwice(ctx context.Context, events *relay, build func(*connection) (*runtime.Request, error)) (served, error) {
	for again := true; ; again = false {
		c, done, err := b.acquire(ctx, events.from)
		if err != nil {
			return served{}, err
		}
		result, err := b.over(ctx, c, events, build)
		done()
		for errors.Is(err, errDismissed) { // it was closed as idle in between: as if it had never been picked
			if c, done, err = b.acquire(ctx, events.from); err != nil {
				return served{}, err
			}
			result, err = b.over(ctx, c, events, build)
			done()
		}
		switch {
		case !again || err == nil:
		case errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed):
			c.link.lost(c, err)
			continue
		case c.doubtful(events.method, err) && c.link.doubt(c):
			b.p.log.Info("backend does not speak as was settled: connecting anew", "server", b.name, "err", err)
			continue
		}
		if _, ok := errors.AsType[*bridge.SessionError](err); ok {
			err = ours(err)
		}
		return served{result, c}, err
	}
}

func (b *backend) over(ctx context.Context, c *connection, events *relay, build func(*connection) (*runtime.Request, error)) ([]byte, error) {
	req, err := build(c)
	if err != nil {
		return nil, err
	}
	e := *events // an earlier connection may still be at it
	e.conn = c
	req.Events = &e
	end, err := c.begin(&e)
	if err != nil {
		return nil, err
	}
	defer func() { end(ctx.Err() != nil) }()
	c.usedBy(e.from.peer)
	return c.client.Transport().Call(ctx, req)
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
	case "notifications/tools/list_changed":
		h.conn.link.b.changed(changeKinds{tools: true})
	case "notifications/prompts/list_changed":
		h.conn.link.b.changed(changeKinds{prompts: true})
	case "notifications/resources/list_changed":
		h.conn.link.b.changed(changeKinds{resources: true})
	case "notifications/subscriptions/acknowledged": // what changed before it was not told
		h.conn.link.b.changed(changeKinds{})
	case "notifications/message":
		h.conn.logged(params)
	case "notifications/elicitation/complete":
		h.conn.completed(params)
	case "notifications/resources/updated":
		h.conn.link.b.p.hub.updated(h.conn.link, params)
	}
}

// Request implements [runtime.Handler].
func (h *backendHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	if !revision.IsQuestion(method) { // ping, and what no client is to see
		return h.NopHandler.Request(ctx, call, method, params)
	}
	return h.conn.question(ctx, method, params)
}

// Closed implements [runtime.Handler].
func (h *backendHandler) Closed(err error) { h.conn.link.lost(h.conn, err) }
