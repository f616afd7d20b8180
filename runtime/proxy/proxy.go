package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/stdioserver"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Dial connects to a server. ctx is the backend's own lifetime, not that of the
// request that needs it first. Notifications and requests outside calls, and
// the end of the connection, go to h.
type Dial func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error)

// Key identifies a connection to a server. Those with equal keys are
// interchangeable; principals are equal if their IDs are.
type Key struct {
	// Server is the configured name.
	Server string
	// Legacy prefers the handshake where the server speaks both eras.
	Legacy bool
	// Principal is who alone uses the connection: the one whose request was the latest
	// when it was needed. Nil is nobody in particular: principals are not told apart for
	// this server, or the authenticator has none.
	Principal *access.Principal
	// Scope is whose connection it is: "" is everybody's, or that of all clients of
	// Principal.
	Scope string
	// Capabilities is the raw object of what the server may ask over it; "" is
	// nothing. A modern connection ignores it: there each request says so.
	Capabilities string
}

// What counts where [Options] do not say.
const (
	defaultSeparator = "__"
	defaultNameLimit = 44
)

// Options are settings of a proxy.
type Options struct {
	// Servers are the backends, in the order of the configuration, which is the
	// order of the lists.
	Servers []Server
	// Dial connects to one of them. Required.
	Dial Dial
	// NoPrefix exposes names as the servers have them. If two servers offer one
	// name, the later keeps its prefix.
	NoPrefix bool
	// Separator stands between server and name; "" is "__".
	Separator string
	// NameLimit bounds exposed names, in characters; 0 is 44: the 64 that
	// several model APIs accept, less 20 for what hosts put in front.
	NameLimit int
	// RequestTimeout bounds how long a backend may be silent on a client's
	// request, unless the server has a bound of its own; progress re-arms it, up
	// to an hour. 0 is 120 s, negative is no bound.
	RequestTimeout time.Duration
	// ListGrace is how long a list waits for servers that are being connected and have
	// offered nothing yet, nor failed or been late before. It is answered without them
	// then, marked as partial, and clients are notified when they have come. Zero or less:
	// it waits for each as long as its DiscoveryTimeout says.
	ListGrace time.Duration
	// PageSize bounds the items of a page of a list; 0 is 1000, negative is no
	// bound.
	PageSize int
	// Ring seals what clients keep for the proxy: states of interrupted
	// requests, cursors. Nil is one in memory.
	Ring *seal.Keyring
	// Info names this proxy to its clients; without a name it is "mcpctl".
	Info runtime.Implementation
	// SingleClient declares that there will be one client, on a stdio endpoint. Servers
	// learn what it can be asked; what they ask or send outside calls is for it.
	SingleClient bool
	// Single has the proxy stand for its one server: initialize answers with what the
	// server says of itself, what it does not list is passed on to it, and a failure of
	// the way to it is a JSON-RPC error, -32001 for an HTTP status and -32000 for
	// anything else, for tools/call, too.
	Single bool
	// Serial handles the messages of a client on a stdio endpoint one after another.
	Serial bool
	// Roots answers servers that ask for roots outside any client's call: a raw
	// array; nil is none.
	Roots json.RawMessage
	// Store keeps what is learned of servers that have a digest; nil keeps
	// nothing.
	Store Store
	// Login returns the login of a person that can answer a server's failure, nil where
	// none can: it is under way, or begun. principal is whose request has failed,
	// nil where nobody is asked who they are. Its error says why it cannot begin. It may be
	// called concurrently. Nil: nobody logs in, and clients get the failure.
	Login func(ctx context.Context, server string, principal *access.Principal, failure error) (Login, error)
	// Views are what clients see of the servers, each its own: see [Proxy.SetViews]. Nil: all
	// see everything that the Gate lets them.
	Views *views.Set
	// View is the name of the view of clients on stdio endpoints; "": it is chosen as for others.
	View string
	// Gate decides what each principal may see and do; nil allows all. After
	// [gate.Gate.Replace], call Repolicy.
	Gate *gate.Gate
	// Journal takes a record of each decision about a request, before anything of it is
	// sent, and of what comes of it, before that is answered. Where a record cannot be
	// written, the answer is the error access.CodeUnrecorded. It is closed after the proxy.
	// Nil: nothing is recorded.
	Journal *journal.Journal
	// Pins says what of the servers is held back from clients; nil: nothing is. After
	// [lockfile.Guard.Set], call Repin.
	Pins *lockfile.Guard
	// Search is how clients find tools.
	Search Search
	// Logger; nil discards.
	Logger *slog.Logger
}

// Login is the login of a person to a server. Its methods may be called concurrently.
type Login interface {
	// ID is what no other login has, for as long as it is under way.
	ID() string
	// URL is the page on which the person logs in.
	URL() string
	// Principal is the ID of whose credentials come of it, "" for those of all.
	Principal() string
	// Wait returns when the login has ended, with why it failed; or the error of ctx.
	Wait(ctx context.Context) error
}

// Store keeps what the proxy has learned of servers for later processes.
// [store.DB] is one. Its methods may be called concurrently, on goroutines of
// their own. A failure costs what was learned, no more.
type Store interface {
	// Load returns what is kept of servers, by name, under the same digest.
	Load(ctx context.Context, servers []store.ID) (map[string]store.Record, error)
	// Keep stores changes, all of them or none.
	Keep(ctx context.Context, changes []store.Change) error
}

// Proxy is the backends and what is known of them. ServeStdio, NewHTTPFront and
// NewSSEFront add endpoints. All methods may be called concurrently.
type Proxy struct {
	router    *router.Router
	endpoints *endpoint.Set
	stdio     stdioserver.Options
	pins      *lockfile.Guard
	hooks     *hooks.Registry
}

// New returns a proxy. Nothing is connected yet.
func New(o Options) (*Proxy, error) {
	if o.Dial == nil {
		return nil, errors.New("proxy: no dial function")
	}
	o.Info.Name = cmp.Or(o.Info.Name, "mcpctl")
	o.Separator, o.NameLimit = cmp.Or(o.Separator, defaultSeparator), cmp.Or(o.NameLimit, defaultNameLimit)
	if o.Single { // there is nothing to list before its server has come
		o.ListGrace = 0
	}
	o.RequestTimeout, o.PageSize = cmp.Or(o.RequestTimeout, 120*time.Second), cmp.Or(o.PageSize, catalog.DefaultPage)
	if o.Ring == nil {
		o.Ring = seal.NewKeyring()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	info, looking := client.Describe(o.Info), new(hooks.Registry)
	rt := router.New(router.Options{
		Backends: upstream.Options{
			Dial: func(ctx context.Context, k upstream.Key, principal *access.Principal, h runtime.Handler) (*runtime.Client, error) {
				return o.Dial(ctx, Key{Server: k.Server, Legacy: k.Legacy, Principal: principal, Scope: k.Scope, Capabilities: k.Capabilities}, h)
			},
			RequestTimeout: o.RequestTimeout, Info: info, Roots: o.Roots, Store: o.Store, Logger: o.Logger,
			Single: o.Single,
		},
		Catalog: catalog.Options{
			Single: o.Single, NoPrefix: o.NoPrefix || o.Single, Separator: o.Separator, NameLimit: o.NameLimit, PageSize: o.PageSize, ListGrace: o.ListGrace, Ring: o.Ring, Info: info, Pins: o.Pins, Gate: o.Gate, Views: o.Views, Hooks: looking, Logger: o.Logger,
		},
		Finder: finder.Options{Engine: o.Search.Engine, List: o.Search.List, Budget: o.Search.Budget, Expose: o.Search.Expose, Native: o.Search.Native, NoPrefix: o.NoPrefix}, Journal: o.Journal, Logger: o.Logger, Login: loginOf(o.Login),
	})
	p := &Proxy{router: rt, endpoints: endpoint.NewSet(rt), stdio: stdioserver.Options{SingleClient: o.SingleClient, Serial: o.Serial, Single: o.Single, View: o.View}, pins: o.Pins, hooks: looking}
	if _, err := p.Reconfigure(o.Servers); err != nil {
		return nil, err
	}
	return p, nil
}

// loginOf returns an option as the router has it.
func loginOf(login func(context.Context, string, *access.Principal, error) (Login, error)) func(context.Context, string, *access.Principal, error) (router.Login, error) {
	if login == nil {
		return nil
	}
	return func(ctx context.Context, server string, principal *access.Principal, failure error) (router.Login, error) {
		return login(ctx, server, principal, failure)
	}
}

// Close ends all backends, side by side, and returns when they are gone. End the
// endpoints first.
func (p *Proxy) Close() error {
	p.endpoints.Draining.Store(true)
	p.router.Close()
	return nil
}

// Drain has the endpoints refuse new requests, and returns when those in flight
// are answered, or ctx ends. Answers to questions, cancellations, resumed
// streams and listens go on until the endpoints are ended, which is the next step.
// Calls that wait for a client to come back with answers are not waited for.
func (p *Proxy) Drain(ctx context.Context) { p.endpoints.Drain(ctx) }

// Ready reports whether new requests are taken. It takes no lock.
func (p *Proxy) Ready() bool { return p.endpoints.Ready() }

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a
// line, until the input ends, the output fails or ctx is done. Requests in
// flight when the input ends are answered first, for up to 30 s. An out that
// is a pipe is written to without blocking. A client that does not read is not
// read from, and delays the answers of the stdio backends it has called.
func (p *Proxy) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return stdioserver.Serve(ctx, p.endpoints, in, out, p.stdio)
}

// Changes are the servers, by name, that a new configuration has changed, in its
// order; Removed is in the order of the one before.
type Changes struct {
	// Added and Removed are servers that are new and that are gone.
	Added, Removed []string
	// Replaced are servers that are reached in another way: they are connected
	// again.
	Replaced []string
	// Adjusted are those with new settings that keep their connections.
	Adjusted []string
}

// None reports whether nothing has changed but, perhaps, the order.
func (c Changes) None() bool {
	return len(c.Added)+len(c.Removed)+len(c.Replaced)+len(c.Adjusted) == 0
}

// Reconfigure replaces the servers behind the proxy. A server that stays as it
// was keeps its connections, calls, names and URIs. Dial must know the new
// servers by now.
//
// When it returns, requests go to the new servers. Calls under way to one that
// is gone or replaced may end, for up to 30 s or the server's RequestTimeout if
// that is less; then its connections are closed. A replaced server keeps its
// place in the lists, with what it offered, until it is listed again;
// subscriptions follow it, tasks and interrupted calls do not.
//
// Clients that have seen a list are notified once that it has changed, when
// added and replaced servers are listed, after five seconds at the latest.
//
// It fails, and changes nothing, for a name that is empty or repeated, and after
// Close.
func (p *Proxy) Reconfigure(servers []Server) (Changes, error) {
	c, err := p.router.Reconfigure(settingsOf(servers))
	return Changes(c), err
}

// Repin compares what the named servers offer with what is locked of them now, after
// Pins was told. When it returns, lists and calls follow that, and clients have been
// notified where a list has changed.
func (p *Proxy) Repin(servers []string) { p.router.Catalog.Repin(servers) }

// Repolicy has lists and requests follow the policies of the Gate, after it was given
// others. When it returns, clients have been notified whose lists have changed, and listens
// end that name what their clients may not see any more.
func (p *Proxy) Repolicy() {
	p.router.Catalog.Repolicy()
	p.router.Hub.EndHidden()
}

// SetViews sets the views, nil for none. A client keeps the
// name of the view that it has; one whose view is not there any more sees nothing, and over
// HTTP it is told to begin again. When it returns, lists and requests follow, and clients
// have been notified whose lists have changed. Calls under way go on.
func (p *Proxy) SetViews(set *views.Set) {
	p.router.Catalog.Review(set)
	p.router.Views.Set(set) // a name that is chosen is there
	p.router.Hub.EndHidden()
}

// settingsOf returns the servers as settings of backends.
func settingsOf(servers []Server) []upstream.Settings {
	all := make([]upstream.Settings, len(servers))
	for i, s := range servers {
		all[i] = upstream.Settings{
			Name: s.Name, Transport: s.Transport, Labels: s.Labels, TrustAnnotations: s.TrustAnnotations, Local: s.Local, Isolation: upstream.Isolation(s.Isolation), PerPrincipal: s.PerPrincipal, MaxPrincipals: s.MaxPrincipals, WrapURIs: s.WrapURIs, Start: upstream.Start(s.Start),
			IdleTimeout: s.IdleTimeout, MinIdleTimeout: s.MinIdleTimeout, MaxIdleTimeout: s.MaxIdleTimeout,
			RequestTimeout: s.RequestTimeout, DiscoveryTimeout: s.DiscoveryTimeout, Connection: s.Connection, Digest: s.Digest,
		}
	}
	return all
}
