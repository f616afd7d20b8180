package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front/stdio"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
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

const defaultRequestTimeout = 120 * time.Second

// Proxy is the backends and what is known of them. Fronts are added with
// ServeStdio and Handler. All methods may be called concurrently.
type Proxy struct {
	router *router.Router
	fronts *front.Set
	only   bool // Options.Solo
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
		o.PageSize = catalog.DefaultPage
	}
	if o.Ring == nil {
		o.Ring = seal.NewRing()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	info := upstream.Describe(o.Info)
	rt := router.New(router.Options{
		Backends: upstream.Options{
			Dial: func(ctx context.Context, k upstream.Key, h runtime.Handler) (*runtime.Client, error) {
				return o.Dial(ctx, Key(k), h)
			},
			RequestTimeout: o.RequestTimeout, Info: info, Roots: o.Roots, Store: o.Store, Logger: o.Logger,
		},
		Catalog: catalog.Options{
			NoPrefix: o.NoPrefix, Separator: o.Separator, NameLimit: o.NameLimit, PageSize: o.PageSize, Ring: o.Ring, Info: info, Logger: o.Logger,
		},
		Info: o.Info, Logger: o.Logger,
	})
	p := &Proxy{router: rt, fronts: front.NewSet(rt), only: o.Solo}
	if _, err := p.Reconfigure(o.Servers); err != nil {
		return nil, err
	}
	return p, nil
}

// Close ends all backends, side by side, and returns when they are gone. Fronts
// have to be ended first.
func (p *Proxy) Close() error {
	p.fronts.Draining.Store(true)
	p.router.Close()
	return nil
}

// Drain has the fronts refuse new requests, and returns when those in flight
// have been answered, or ctx ends. Answers to questions, cancellations, streams
// that are taken up again and listens go on until the fronts end, which is the
// next step: nothing here ends anything. Calls that wait for a client to come
// back with answers are not waited for.
func (p *Proxy) Drain(ctx context.Context) { p.fronts.Drain(ctx) }

// Ready tells whether new requests are taken. It takes no lock.
func (p *Proxy) Ready() bool { return p.fronts.Ready() }

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a
// line, until the input ends, the output fails or ctx is done. Requests in
// flight when the input ends are answered first, for up to 30 s. An out that
// is a pipe is written to without blocking. A client that does not read is not
// read from, and holds up the answers of the stdio backends it has called.
func (p *Proxy) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return stdio.Serve(ctx, p.fronts, in, out, p.only)
}

// settingsOf returns the servers in the words of the backends.
func settingsOf(servers []Server) []upstream.Settings {
	all := make([]upstream.Settings, len(servers))
	for i, s := range servers {
		all[i] = upstream.Settings{
			Name: s.Name, Transport: s.Transport, Isolation: upstream.Isolation(s.Isolation), WrapURIs: s.WrapURIs, Start: upstream.Start(s.Start),
			IdleTimeout: s.IdleTimeout, MinIdleTimeout: s.MinIdleTimeout, MaxIdleTimeout: s.MaxIdleTimeout,
			RequestTimeout: s.RequestTimeout, DiscoveryTimeout: s.DiscoveryTimeout, Connection: s.Connection, Digest: s.Digest,
		}
	}
	return all
}
