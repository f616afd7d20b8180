package cli

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/seal"
	"github.com/mcpctl/mcpctl/runtime/store"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// nameLimit is the longest tool name that several model APIs accept; the setting
// serve.nameOverhead is subtracted.
const nameLimit = 64

// releaseAfter is how long after its start serve returns the garbage of reading the
// configuration and the stored lists to the system, once: with 50 servers about a
// tenth of its memory, which without calls is not collected for two minutes.
const releaseAfter = time.Second

// gateway is a running serve: the proxy, and the entries of its servers.
type gateway struct {
	a *app
	f serveFlags
	// entries is by name; the map is replaced, never edited.
	entries atomic.Pointer[map[string]config.Entry]
	proxy   *proxy.Proxy
	store   *store.DB // nil without a state directory
	guard   *transport.Guard
	ballast ballast
	logins  *auth.Logins

	started time.Time
	addrs   atomic.Pointer[[]string]     // URLs of the HTTP front, nil before it listens
	config  atomic.Pointer[configStatus] // replaced, never edited
}

// serve runs until the client disconnects (stdio) or a signal comes.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	settle := relaxGC()
	defer settle()
	file, err := a.loadConfig()
	if err != nil {
		return err
	}
	a.longRunning.Store(true)
	entries, err := f.choose(file)
	if err != nil {
		return err
	}
	g := &gateway{a: a, f: f, store: a.store(file), guard: a.guard(), logins: auth.NewLogins(), started: time.Now()}
	defer g.guard.Close()
	defer g.logins.Close()
	if err := g.open(entries); err != nil {
		return err
	}
	front := func(ctx context.Context) error { return g.proxy.ServeStdio(ctx, a.ui.In, a.ui.Out) }
	if f.http != "" {
		front = g.serveHTTP
	}
	stop := g.follow(file)
	if heapObjects()-int64(len(g.ballast.bytes)) < smallHeap {
		settle() // small memory: garbage must not pile up
	}
	tidy := time.AfterFunc(releaseAfter, func() {
		settle()
		debug.FreeOSMemory()
	})
	defer tidy.Stop()
	defer whileServing(ctx, releaseMemory)()
	hide := g.publishStatus(ctx)
	err = g.run(ctx, front)
	hide()
	stop()
	g.ballast.keep()
	if g.store != nil {
		if err := g.store.Close(); err != nil {
			a.log.Warn("cannot close what was learned of the servers", "err", err)
		}
	}
	return err
}

// open creates the proxy.
func (g *gateway) open(entries []config.Entry) error {
	a := g.a
	g.ballast.allocate(entries)
	servers, byName := g.servers(entries)
	g.entries.Store(&byName)
	o := proxy.Options{
		Servers:        servers,
		Dial:           g.dial,
		Solo:           g.f.http == "",
		NoPrefix:       !a.settings.Serve.Prefix,
		Separator:      a.settings.Serve.Separator,
		NameLimit:      nameLimit - a.settings.Serve.NameOverhead,
		RequestTimeout: a.settings.Serve.RequestTimeout,
		Ring:           a.ring(),
		Info:           a.implementation(),
		Login:          g.login,
		Logger:         a.log,
	}
	if g.store != nil {
		o.Store = g.store
	}
	if dirs := a.settings.Serve.Roots; len(dirs) > 0 {
		o.Roots = roots(dirs)
	}
	var err error
	g.proxy, err = proxy.New(o)
	return err
}

// servers returns the proxy's settings of entries, and the entries by name.
func (g *gateway) servers(entries []config.Entry) ([]proxy.Server, map[string]config.Entry) {
	servers, byName := make([]proxy.Server, len(entries)), map[string]config.Entry{}
	for i, e := range entries {
		servers[i], byName[e.Name] = g.backend(e), e
	}
	return servers, byName
}

// reconfigure replaces the served entries.
func (g *gateway) reconfigure(entries []config.Entry) (proxy.Changes, error) {
	before := *g.entries.Load()
	g.ballast.allocate(entries)
	servers, after := g.servers(entries)
	both := maps.Clone(before) // a removed one may still be dialled
	maps.Copy(both, after)
	g.entries.Store(&both)
	changes, err := g.proxy.Reconfigure(servers)
	if err != nil {
		g.entries.Store(&before)
		return changes, err
	}
	g.entries.Store(&after)
	return changes, nil
}

// dial connects to a server for the proxy.
func (g *gateway) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	entry := (*g.entries.Load())[key.Server]
	o := g.a.dialOptions(entry)
	o.Handler, o.Listen, o.Guard = h, true, g.guard
	o.Legacy, o.Capabilities = key.Legacy, json.RawMessage(key.Capabilities)
	if o.Auth != nil { // standard input is the protocol's: nobody logs in here
		o.Auth.Person, o.Auth.Config, o.Auth.KeptOnly = nil, nil, true
	}
	return dial.Dial(ctx, entry, o)
}

// login returns the login of a person that answers the failure of a server, nil for
// another failure.
func (g *gateway) login(ctx context.Context, server string, failure error) (proxy.Login, error) {
	entry, ok := (*g.entries.Load())[server]
	if !ok || config.StateDir(g.a.getenv) == "" || !auth.Answers(failure) {
		return nil, nil
	}
	login, err := g.logins.Begin(ctx, server+" "+entry.Digest(), failure, func() *auth.Authorizer {
		entry.AllowInsecureHTTP = entry.AllowInsecureHTTP || g.a.settings.AllowInsecureHTTP
		x, err := entry.Expand(os.LookupEnv)
		if err != nil {
			return nil
		}
		return (&dial.Auth{Store: authCommands{g.a}.tokenStore()}).Authorizer(x, g.a.log, x.Redactor())
	})
	if err != nil || login == nil {
		return nil, err
	}
	return login, nil
}

// backend returns the proxy's settings of an entry.
func (g *gateway) backend(e config.Entry) proxy.Server {
	return proxy.Server{
		Name: e.Name, Transport: e.Transport(), Isolation: proxy.Isolation(e.Isolation), WrapURIs: e.WrapURIs, Start: proxy.Start(e.Start),
		IdleTimeout: e.IdleTimeout, MinIdleTimeout: e.MinIdleTimeout, MaxIdleTimeout: e.MaxIdleTimeout,
		RequestTimeout:   g.a.settings.ServeTimeout(e.RequestTimeout),
		Digest:           e.Digest(),
		Connection:       e.Connection(),
		DiscoveryTimeout: g.a.settings.DialTimeout(e.ConnectTimeout),
	}
}

// store returns the database about the servers of a configuration, nil if the
// environment names no state directory.
func (a *app) store(file *config.File) *store.DB {
	dir := config.StateDir(a.getenv)
	if dir == "" {
		return nil
	}
	scope := file.Path()
	if abs, err := filepath.Abs(scope); err == nil {
		scope = abs
	}
	db := store.Open(filepath.Join(dir, "mcpctl.db"), store.Options{Scope: scope, Logger: a.log})
	setKnown(db, file)
	return db
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
func (a *app) ring() *seal.Ring {
	dir := config.StateDir(a.getenv)
	if dir == "" {
		return seal.NewRing()
	}
	r, err := seal.OpenRing(filepath.Join(dir, "ring.json"))
	if err != nil {
		a.log.Warn("no keys on disk: clients cannot come back after a restart", problem(err)...)
		return seal.NewRing()
	}
	return r
}
