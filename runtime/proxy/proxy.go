package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/seal"
)

// Dial connects to a server. ctx is the backend's own lifetime, not that of the
// request that needs it first. Notifications and requests outside calls, and
// the end of the connection, go to h.
type Dial func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error)

// Key tells which connection to a server is meant. Those with equal keys are
// interchangeable.
type Key struct {
	// Server is the configured name.
	Server string
	// Legacy prefers the handshake where the server speaks both eras.
	Legacy bool
	// Scope is whose connection it is: "" is everybody's.
	Scope string
	// Capabilities is the raw object of what the server may ask over it; "" is
	// nothing. A modern connection ignores it: there each request tells.
	Capabilities string
}

// Options are settings of a proxy.
type Options struct {
	// Servers are the backends, in the order of the configuration, which is the
	// order of the lists.
	Servers []Server
	// Dial connects to one of them. Required.
	Dial Dial
	// NoPrefix exposes names as the servers have them. Where two servers offer
	// one name, the later keeps its prefix.
	NoPrefix bool
	// Separator stands between server and name; "" is "__".
	Separator string
	// NameLimit bounds exposed names, in characters; 0 is 44: the 64 that
	// several model APIs accept, less 20 for what hosts put in front.
	NameLimit int
	// RequestTimeout is how long a client's request may go without a sign of
	// life from the backend, where the server has no bound of its own; progress
	// re-arms it, up to an hour. 0 is 120 s, negative is no bound.
	RequestTimeout time.Duration
	// PageSize is how many items a page of a list has at most; 0 is 1000,
	// negative is no bound.
	PageSize int
	// Ring seals what clients keep for the proxy: states of interrupted
	// requests, cursors. Nil: one in memory.
	Ring *seal.Ring
	// Info names this proxy to its clients; without a name it is "mcpctl".
	Info runtime.Implementation
	// Solo tells that there will be one client, on a stdio front. Servers are told
	// what it can be asked, and what they ask or say outside calls is for it.
	Solo bool
	// Roots answers servers that ask for roots outside any client's call: a raw
	// array; nil is none.
	Roots json.RawMessage
	// Store keeps what is learned of servers that have a digest; nil keeps
	// nothing beyond this proxy.
	Store Store
	// Logger; nil discards.
	Logger *slog.Logger
}

const (
	defaultRequestTimeout = 120 * time.Second
	requestCeiling        = time.Hour
)

// Proxy is the backends and what is known of them. Fronts are added with
// ServeStdio and Handler. All methods may be called concurrently.
type Proxy struct {
	o    Options
	log  *slog.Logger
	info json.RawMessage // Options.Info, as results carry it
	// roster is the backends in configured order; the slice is never edited.
	roster       atomic.Pointer[[]*backend]
	parking      *parking.Lot
	handedOut    handedOut
	snap         atomic.Pointer[snapshot]
	lastDeclared atomic.Pointer[json.RawMessage] // see declared
	reaper       reaper
	begun        atomic.Bool    // there is a client, or will be
	random       func() float64 // shortens what is waited for, at least 0 and less than 1
	// seen tells which lists a client has seen: nobody is told of changes to
	// what nobody has asked for.
	seen [kinds]atomic.Bool

	// lifetime is that of the backends; ended by Close.
	lifetime context.Context //nolint:containedctx // owned, see Close
	cancel   context.CancelFunc
	work     sync.WaitGroup // connecting and listing

	shape     sync.Mutex // held while the backends become others, and while they are closed
	mu        sync.Mutex // guards what follows, and is held while a snapshot is built
	names     namer
	past      past
	leaving   []*backend // that are in no configuration any more, and have calls; replaced whole
	held      held
	listeners map[listener]changeKinds
	levels    map[*peer]level // that clients have asked for

	fronts fronts

	bodies allowance // of clients' messages over HTTP
	unsent tally     // of messages for them

	solo  atomic.Pointer[peer] // the only client there will be, nil where others may come
	hub   hub                  // of those who want to know of changed resources
	homes homes                // of tasks

	keeping    keeping
	updates    updates
	refreshing refreshing
}

// listener is a client connection that wants to know of changes.
type listener interface {
	// notify sends a notification, nil params for none. It must not wait.
	notify(method string, params []byte)
}

// New makes a proxy. Nothing is connected yet.
func New(o Options) (*Proxy, error) {
	if o.Dial == nil {
		return nil, errors.New("proxy: no dial function")
	}
	if o.Info.Name == "" {
		o.Info.Name = "mcpctl"
	}
	if o.Separator == "" {
		o.Separator = "__"
	}
	if o.NameLimit == 0 {
		o.NameLimit = 44
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = defaultRequestTimeout
	}
	if o.PageSize == 0 {
		o.PageSize = defaultPage
	}
	if o.Ring == nil {
		o.Ring = seal.NewRing()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{
		o: o, log: o.Logger, info: describe(o.Info), names: namerOf(o, o.Servers, nil),
		listeners: map[listener]changeKinds{}, levels: map[*peer]level{}, parking: parking.NewLot(0),
	}
	p.past = past{of: memories{}, shown: memories{}}
	p.random = rand.Float64
	p.lifetime, p.cancel = context.WithCancel(context.Background())
	var backends []*backend
	for _, server := range o.Servers {
		backends = append(backends, newBackend(p, server))
	}
	p.roster.Store(&backends)
	p.snap.Store(newSnapshot(p))
	p.recall(backends)
	return p, nil
}

// all gives the backends in configured order.
func (p *Proxy) all() []*backend {
	if all := p.roster.Load(); all != nil {
		return *all
	}
	return nil
}

// Close ends all backends, side by side, and returns when they are gone. Fronts
// have to be ended first.
func (p *Proxy) Close() error {
	p.fronts.draining.Store(true)
	p.cancel()
	p.reaper.stop()
	p.parking.Close()
	p.shape.Lock()
	defer p.shape.Unlock()
	var wg sync.WaitGroup
	for _, b := range p.all() {
		wg.Go(b.close)
	}
	wg.Wait()
	p.work.Wait()
	for _, b := range p.all() {
		b.keepUsage()
	}
	p.flush()
	return nil
}

// listen has a client of the handshake era told of every change of a list.
func (p *Proxy) listen(l listener) (stop func()) {
	return p.listenFor(l, changeKinds{true, true, true})
}

func (p *Proxy) listenFor(l listener, kinds changeKinds) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners[l] = kinds
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.listeners, l)
	}
}
