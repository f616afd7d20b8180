// Package gateway runs a proxy as a command: on standard input and output or over HTTP,
// with the configuration followed and memory looked after.
package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/sessions"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// releaseAfter is how long after its start serve returns the garbage of reading the
// configuration and the stored lists to the system, once: with 50 servers about a
// tenth of its memory, which without calls is not collected for two minutes.
const releaseAfter = time.Second

// listGrace is how long lists wait for servers that are being connected, unless the
// settings say.
const listGrace = 20 * time.Second

// Host is what a gateway needs of the program that it runs in.
type Host struct {
	UI       *ui.UI
	Log      *slog.Logger
	Getenv   func(string) string
	Settings settings.Settings
	// Info identifies the program, as client and as server.
	Info runtime.Implementation
	// Roots answers servers that have no client's roots, nil for none.
	Roots json.RawMessage
	// Dial returns the settings for connecting to a server.
	Dial func(config.Entry) dial.Options
	// Listed returns the names that a server was last seen to list, false where that is not
	// known. Nil: of no server.
	Listed func(server config.Entry, kind policy.Kind) (names []string, known bool)
	// Tokens keeps the tokens of remote servers.
	Tokens *tokenstore.Store
	// Guard ends servers if the program is killed; nil: nothing does.
	Guard *transport.Guard
	// Hurry is closed by HurryUp, which has child processes killed.
	Hurry   <-chan struct{}
	HurryUp func()
	// OnHangup replaces the action of the signal HUP until stop is called.
	OnHangup func(do func()) (stop func())
}

// Options say what a gateway serves, and where.
type Options struct {
	// Command is the name of the command in hints.
	Command string
	// Bridge stands for the one server of Entries; see [proxy.Options]. What it offers is
	// asked each time, and the settings of credentials are for it.
	Bridge bool
	// Serial handles the messages of standard input one after another.
	Serial bool
	// File is the configuration, nil for none, Entries those of its entries to serve.
	// Layers are the files that it was read from, which are followed.
	File    *config.File
	Entries []config.Entry
	Layers  layers.WatchOptions
	// Servers are the names that Entries were chosen by; nil: all are served.
	Servers []string
	// View is the name of the view of the client on standard input and output, "" where that
	// is chosen for it.
	View string
	// NoServerStream and MaxMessageBytes are in the place of those of an entry, unless
	// they are zero.
	NoServerStream  bool
	MaxMessageBytes int
	// HTTP is the address to serve HTTP on, "" for standard input and output.
	// Insecure allows one that other machines reach.
	HTTP     string
	Insecure bool
	// Socket is the path to serve HTTP on in place of an address, see package local.
	Socket string
	// asks reports that clients over HTTP are asked for a credential.
	asks bool
	// NoPolicy turns policies off.
	NoPolicy bool
	// Session makes it one that commands find, see package sessions; nil: it is none.
	Session *sessions.Options
}

// overHTTP reports whether clients come over HTTP.
func (o *Options) overHTTP() bool { return o.HTTP != "" || o.Socket != "" }

// gateway is a running serve: the proxy, and the entries of its servers.
type gateway struct {
	h Host
	o Options
	// entries is by name; the map is replaced, never edited.
	entries atomic.Pointer[map[string]config.Entry]
	proxy   *proxy.Proxy
	store   *stored // nil without a state directory
	ballast ballast
	logins  *auth.Logins
	pins    pinning
	// policies say who may do what, hooks look into calls.
	policies policing
	hooks    looking
	// restarts counts, by server, how often one was connected anew by request. The lock of
	// hooks guards it.
	restarts map[string]int
	// accounts are those of principals with servers, nil where nobody is asked who they
	// are.
	accounts *accounts
	// audit takes records of what is done, nil for none.
	audit *auditing.Recorder
	// redactors clean the bodies that it keeps, nil where these stay as they are.
	redactors *auditing.Redactors
	ring      *seal.Keyring // seals what clients and browsers keep

	shown         published
	authenticator atomic.Pointer[authenticator] // nil where nobody is asked for a credential
}

// published is what a status says of the process.
type published struct {
	started time.Time
	addrs   atomic.Pointer[[]string]     // URLs of the HTTP endpoint, nil before it listens
	config  atomic.Pointer[ConfigStatus] // replaced, never edited
}

// Run serves until the client disconnects (stdio) or ctx ends.
func Run(ctx context.Context, h Host, o Options) error {
	settle := relaxGC()
	defer settle()
	o.asks = o.asksFor(h.Settings.Serve.Access)
	g := &gateway{h: h, o: o, restarts: map[string]int{}, logins: auth.NewLogins(), shown: published{started: time.Now()}}
	if !o.Bridge && o.File != nil {
		g.store = h.store(o.File, &g.entries)
	}
	defer h.Guard.Close()
	defer g.logins.Close()
	if err := openAudit(ctx, g); err != nil {
		return err
	}
	defer func() { g.audit.Close(ctx) }()
	search, end, err := h.search()
	if err != nil {
		return err
	}
	defer end()
	if err := g.open(o.Entries, search); err != nil {
		return err
	}
	g.policies.record(g)
	serve := func(ctx context.Context) error {
		g.welcomeStdio()
		if err := g.proxy.ServeStdio(ctx, h.UI.In, h.UI.Out); !ui.BrokenPipe(err) {
			return err
		}
		return nil // the client has gone
	}
	if o.overHTTP() {
		serve = g.serveHTTP
	}
	unwatch := g.policies.watch(g)
	stop := g.follow(o.File)
	if heapObjects()-int64(len(g.ballast.bytes)) < smallHeap {
		g.ballast.start.settle.Store(&settle) // small memory: garbage must not pile up
	}
	tidy := time.AfterFunc(releaseAfter, func() {
		settle()
		debug.FreeOSMemory()
	})
	defer tidy.Stop()
	defer whileServing(ctx, releaseMemory)()
	hide := g.publishStatus(ctx)
	err = g.run(ctx, serve)
	hide()
	stop()
	unwatch()
	g.ballast.keep()
	if g.store != nil {
		if err := g.store.Close(); err != nil {
			h.Log.Warn("cannot close what was learned of the servers", "err", err)
		}
	}
	return err
}

// open creates the proxy.
func (g *gateway) open(entries []config.Entry, search proxy.Search) error {
	h := g.h
	if err := g.openPins(entries); err != nil {
		return err
	}
	if err := errors.Join(g.policies.open(g), g.hooks.read(g)); err != nil {
		return err
	}
	g.ballast.allocate(entries)
	g.ring = h.ring()
	g.openAccounts()
	g.hooks.entries = entries
	seen, hooks := g.hooks.split(entries)
	servers, byName := g.servers(seen)
	_, looking := g.servers(hooks)
	maps.Copy(byName, looking)
	g.entries.Store(&byName)
	o := proxy.Options{
		Servers:        servers,
		Dial:           g.dial,
		SingleClient:   !g.o.overHTTP(),
		Single:         g.o.Bridge,
		Serial:         g.o.Serial,
		NoPrefix:       !h.Settings.Serve.Prefix,
		Separator:      h.Settings.Serve.Separator,
		NameLimit:      settings.ToolName - h.Settings.Serve.NameOverhead,
		RequestTimeout: h.Settings.Serve.RequestTimeout,
		ListGrace:      cmp.Or(h.Settings.Serve.ListGrace, listGrace),
		Ring:           g.ring,
		Info:           h.Info,
		Roots:          h.Roots,
		Login:          g.login,
		Pins:           g.pins.guard,
		Gate:           g.policies.gate,
		View:           g.o.View,
		Journal:        g.audit.Takes(),
		Logger:         h.Log,
	}
	if g.store != nil {
		o.Store = g.store
	}
	if !g.o.Bridge {
		o.Views = h.Settings.Serve.Views
		o.Search = search
	}
	if err := knownView(o.Views, o.View); err != nil {
		return err
	}
	var err error
	if g.proxy, err = proxy.New(o); err != nil {
		return err
	}
	return g.hooks.apply(g, hooks)
}

// search returns how clients find tools, and what ends its engine. That has a vocabulary of
// its own, and an endpoint, where the settings have.
func (h Host) search() (out proxy.Search, end func(), err error) {
	s := h.Settings.Serve
	out = proxy.Search{List: views.Form(s.List), Budget: s.Budget, Native: s.Search.Native}
	if s.Search.Vocabulary == "" && s.Search.Embeddings == nil {
		return out, func() {}, nil
	}
	e, err := find.New(find.Options{Settings: s.Search, StateDir: config.StateDir(h.Getenv), Getenv: h.Getenv, Log: h.Log})
	if err != nil {
		return out, nil, err
	}
	out.Engine = e.Engine
	return out, e.Close, nil
}

// servers returns the proxy's settings of entries, and the entries by name.
func (g *gateway) servers(entries []config.Entry) ([]proxy.Server, map[string]config.Entry) {
	servers, byName := make([]proxy.Server, len(entries)), map[string]config.Entry{}
	for i, e := range entries {
		servers[i], byName[e.Name] = g.backend(e), e
	}
	return servers, byName
}

// reconfigure replaces the served entries, which are of a file.
func (g *gateway) reconfigure(f *config.File, entries []config.Entry) (proxy.Changes, error) {
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	g.hooks.file = f
	return g.replace(entries)
}

// replace is reconfigure for who holds the lock of the hooks.
func (g *gateway) replace(entries []config.Entry) (proxy.Changes, error) {
	before := *g.entries.Load()
	g.ballast.allocate(entries)
	seen, hooks := g.hooks.split(entries)
	servers, after := g.servers(seen)
	_, looking := g.servers(hooks)
	maps.Copy(after, looking)
	both := maps.Clone(before) // a removed one may still be dialled
	maps.Copy(both, after)
	g.entries.Store(&both)
	repinned := g.pins.set(entries)
	changes, err := g.proxy.Reconfigure(servers)
	if err != nil {
		g.entries.Store(&before)
		return changes, err
	}
	g.entries.Store(&after)
	g.hooks.entries = entries
	g.proxy.Repin(repinned)
	return changes, g.hooks.apply(g, hooks)
}

// restart connects a server anew, as if its entry had changed: its processes end when the
// calls under way have, and the next ones start. It reports whether the server is one of those
// that are served.
func (g *gateway) restart(server string) (known bool, err error) {
	g.hooks.mu.Lock()
	defer g.hooks.mu.Unlock()
	if !slices.ContainsFunc(g.hooks.entries, func(e config.Entry) bool { return e.Name == server }) {
		return false, nil
	}
	g.restarts[server]++
	if _, err := g.replace(g.hooks.entries); err != nil {
		g.restarts[server]--
		return true, err
	}
	g.h.Log.Info("server restarted, as mcpctl session restart asked", "server", server)
	return true, nil
}

// connection is the entry's, or after a restart another one.
func (g *gateway) connection(e config.Entry) string {
	if n := g.restarts[e.Name]; n > 0 {
		return e.Connection() + " " + strconv.Itoa(n)
	}
	return e.Connection()
}

// dial connects to a server for the proxy.
func (g *gateway) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	defer g.ballast.start.dialing()()
	entries := g.entries.Load()
	entry := (*entries)[key.Server]
	entry.NoServerStream = entry.NoServerStream || g.o.NoServerStream
	entry.MaxMessageBytes = cmp.Or(g.o.MaxMessageBytes, entry.MaxMessageBytes)
	o, err := g.way(entry, &key)
	if err != nil {
		return nil, err
	}
	o.Handler = h
	if g.redactors == nil {
		return dial.Dial(ctx, entry, o)
	}
	o.Redactor = g.redactors.Of(entry.Name, o.Principal.Key())
	c, err := dial.Dial(ctx, entry, o)
	if err == nil {
		g.redactors.Learned(entry.Name, o.Principal.Key(), entries)
	}
	return c, err
}

// way returns how to connect to the server of an entry.
func (g *gateway) way(entry config.Entry, key *proxy.Key) (dial.Options, error) {
	o := g.h.Dial(entry)
	o.Listen, o.Guard = true, g.h.Guard
	o.Legacy, o.Capabilities = key.Legacy, json.RawMessage(key.Capabilities)
	if o.Auth != nil { // standard input is the protocol's: nobody logs in here
		o.Auth.Prompter = nil
		if !g.single() { // what is said of credentials is for one server
			o.Auth.Config = nil
		}
		o.Auth.StoredOnly = o.Auth.Config == nil
	}
	return o, g.accounts.use(entry, key.Principal, &o)
}

// single reports whether the one server is that of the command line.
func (g *gateway) single() bool { return g.o.Bridge || g.o.File == nil }

// login returns the login of a person that answers the failure of a server, nil for
// another failure. principal is nil where nobody is asked who they are.
func (g *gateway) login(ctx context.Context, server string, principal *access.Principal, failure error) (proxy.Login, error) {
	entry, ok := (*g.entries.Load())[server]
	if principal != nil && g.accounts != nil && entry.PerPrincipal() {
		return g.accounts.login(principal, server, failure)
	}
	if !ok || config.StateDir(g.h.Getenv) == "" || !auth.Answers(failure) {
		return nil, nil
	}
	login, err := g.logins.Start(ctx, server+" "+entry.Digest(), failure, func() *auth.Authorizer {
		entry.AllowInsecureHTTP = entry.AllowInsecureHTTP || g.h.Settings.AllowInsecureHTTP
		x, err := entry.Expand(os.LookupEnv)
		if err != nil {
			return nil
		}
		return g.auth().Authorizer(x, g.h.Log, x.Redactor())
	})
	if err != nil || login == nil {
		return nil, err
	}
	return login, nil
}

// auth returns how credentials are obtained at a login.
func (g *gateway) auth() *dial.Auth {
	a := &dial.Auth{Store: g.h.Tokens}
	if g.single() {
		a.Config = g.h.Settings.Auth
	}
	return a
}

// backend returns the proxy's settings of an entry.
func (g *gateway) backend(e config.Entry) proxy.Server {
	return proxy.Server{
		Name: e.Name, Transport: e.Transport(), Labels: strings.Join(e.Labels, " "), TrustAnnotations: e.TrustAnnotations, Local: e.Command != "", Isolation: proxy.Isolation(e.Isolation), MaxPrincipals: e.MaxPrincipals, WrapURIs: e.WrapURIs, Start: proxy.Start(e.Start),
		IdleTimeout: e.IdleTimeout, MinIdleTimeout: e.MinIdleTimeout, MaxIdleTimeout: e.MaxIdleTimeout,
		RequestTimeout:   g.h.Settings.ServeTimeout(e.RequestTimeout),
		Digest:           e.Digest(),
		PerPrincipal:     e.PerPrincipal(),
		Connection:       g.connection(e),
		DiscoveryTimeout: g.h.Settings.DialTimeout(e.ConnectTimeout),
	}
}

// store returns the database about the servers of a configuration, nil if the
// environment names no state directory. entries are those that are served.
func (h Host) store(file *config.File, entries *atomic.Pointer[map[string]config.Entry]) *stored {
	dir := config.StateDir(h.Getenv)
	if dir == "" {
		return nil
	}
	scope := file.Path()
	if abs, err := filepath.Abs(scope); err == nil {
		scope = abs
	}
	db := store.Open(filepath.Join(dir, "mcpctl.db"), store.Options{Scope: scope, Logger: h.Log})
	setKnown(db, file)
	return &stored{DB: db, lists: find.NewKnown(dir, scope, h.Log), entries: entries}
}

// setKnown sets the servers of the configuration in the database, which drops others
// in time.
func setKnown(db *store.DB, file *config.File) {
	var names []string
	for _, e := range file.Entries() {
		names = append(names, e.Name)
	}
	db.Known(names)
}

// ring opens the keys that seal data held by clients. Without a file serve works, and
// sealed data is valid until it ends.
func (h Host) ring() *seal.Keyring {
	dir := config.StateDir(h.Getenv)
	if dir == "" {
		return seal.NewKeyring()
	}
	r, err := seal.OpenRing(filepath.Join(dir, "ring.json"))
	if err != nil {
		h.Log.Warn("no keys on disk: clients cannot come back after a restart", ui.Attrs(err)...)
		return seal.NewKeyring()
	}
	return r
}
