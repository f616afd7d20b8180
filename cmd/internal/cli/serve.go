package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

const (
	defaultServeAddr = "127.0.0.1:8080"
	// nameLimit is what several model APIs accept in a tool's name; the
	// setting serve.nameOverhead is taken off.
	nameLimit = 64
)

// serveFlags are the flags of mcpctl serve that package settings has no key
// for.
type serveFlags struct {
	http     string
	servers  []string
	insecure bool
}

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Put all configured servers behind one endpoint",
		Long: "Put all configured servers behind one endpoint: on standard input and output, as hosts start it,\n" +
			"or with --http as Streamable HTTP at /mcp, and as the older HTTP+SSE at /sse. A server is started when it is first needed, once\n" +
			"for all clients. One that fails does not disturb the others.\n\n" +
			"Tools and prompts are called SERVER__NAME, in at most 44 characters: longer names get a hash.\n\n" +
			"There is no authentication, so --http takes addresses of this machine only, unless --insecure\n" +
			"allows others. The line \"listening on http://ADDR/mcp\" on standard error tells that the port is open.",
		Example: "  mcpctl serve\n  mcpctl serve --http 127.0.0.1:8080 --server fs,gh",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := f.resolve(a, cmd, words); err != nil {
				return err
			}
			return a.serve(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.http, "http", "", "serve HTTP on this `ADDR` (port 0: any free one)")
	fl.Lookup("http").NoOptDefVal = defaultServeAddr
	fl.StringSliceVar(&f.servers, "server", nil, "serve only these `NAMES`, separated by commas")
	fl.Bool("no-prefix", false, "keep the servers' own names")
	fl.String("separator", "__", "`TEXT` between server and name")
	fl.String("request-timeout", "", "give a request up after this `DURATION` without a sign of life, or never (default 120s)")
	fl.String("stream-max", "", "end HTTP streams that last longer than this `DURATION`; clients come back for the rest (default never)")
	fl.BoolVar(&f.insecure, "insecure", false, "allow an address that other machines reach; there is no authentication")
	if err := cmd.RegisterFlagCompletionFunc("server", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		return a.serverCompletions(begun), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic("cli: completion of --server: " + err.Error())
	}
	return cmd
}

// resolve fills in what comes from the environment, and takes the word behind
// a bare --http as its address.
func (f *serveFlags) resolve(a *app, cmd *cobra.Command, words []string) error {
	given := cmd.Flags().Changed
	if v := a.getenv(settings.Variable("http")); v != "" && !given("http") {
		f.http = v
	}
	if v := a.getenv(settings.Variable("server")); v != "" && !given("server") {
		f.servers = strings.Split(v, ",")
	}
	if v := a.getenv(settings.Variable("insecure")); v != "" && !given("insecure") {
		switch strings.ToLower(v) {
		case "1", "true", "yes", "on":
			f.insecure = true
		case "0", "false", "no", "off":
		default:
			return usagef("%s is %q, want true or false", settings.Variable("insecure"), v)
		}
	}
	if len(words) == 0 {
		return nil
	}
	if !given("http") || f.http != defaultServeAddr {
		return usagef("unexpected argument %q", words[0]).withHint("name servers with --server %s", words[0])
	}
	f.http = words[0]
	return nil
}

// serve runs until the client goes (stdio) or the process is told to end.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	file, err := a.loadConfig()
	if err != nil {
		return err
	}
	a.lasting.Store(true)
	entries, err := f.choose(file)
	if err != nil {
		return err
	}
	servers := make([]proxy.Server, len(entries))
	byName := map[string]config.Entry{}
	for i, e := range entries {
		servers[i], byName[e.Name] = backend(e), e
	}
	p, err := proxy.New(proxy.Options{
		Servers: servers,
		Roots:   serveRoots(a.settings.Serve.Roots),
		Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			entry := byName[key.Server]
			o := a.dialOptions(entry)
			o.Handler, o.Listen = h, true
			o.Legacy, o.Capabilities = key.Legacy, json.RawMessage(key.Capabilities)
			return dial.Dial(ctx, entry, o)
		},
		Solo:           f.http == "",
		NoPrefix:       !a.settings.Serve.Prefix,
		Separator:      a.settings.Serve.Separator,
		NameLimit:      nameLimit - a.settings.Serve.NameOverhead,
		RequestTimeout: a.settings.Serve.RequestTimeout,
		Ring:           a.ring(),
		Info:           a.implementation(),
		Logger:         a.log,
	})
	if err != nil {
		return err
	}
	if f.http != "" {
		err = a.serveHTTP(ctx, p, f)
	} else {
		err = p.ServeStdio(ctx, a.ui.In, a.ui.Out)
	}
	return errors.Join(err, p.Close())
}

// backend gives the proxy's settings of an entry.
func backend(e config.Entry) proxy.Server {
	return proxy.Server{Name: e.Name, Isolation: proxy.Isolation(e.Isolation), WrapURIs: e.WrapURIs}
}

// ring opens the keys that seal what clients keep for serve. Without them on
// disk serve works, and forgets with its end what it has given out.
func (a *app) ring() *bridge.Ring {
	dir := config.StateDir(a.getenv)
	if dir == "" {
		return bridge.NewRing()
	}
	r, err := bridge.OpenRing(filepath.Join(dir, "ring.json"))
	if err != nil {
		a.log.Warn("no keys on disk: clients cannot come back after a restart", "err", err)
		return bridge.NewRing()
	}
	return r
}

// serveRoots are the roots of the gateway's own, nil for none.
func serveRoots(dirs []string) json.RawMessage {
	if len(dirs) == 0 {
		return nil
	}
	return roots(dirs)
}

// choose gives the servers to put behind the endpoint.
func (f *serveFlags) choose(file *config.File) ([]config.Entry, error) {
	if len(f.servers) > 0 {
		var out []config.Entry
		for _, name := range f.servers {
			e, err := file.Use(strings.TrimSpace(name))
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	if len(file.Entries()) == 0 {
		return nil, (&Error{Code: exitConfig, Err: fmt.Errorf("no servers in %s", file.Path())}).withHint("mcpctl add NAME, or mcpctl search WORDS")
	}
	return file.Entries(), nil
}

func (a *app) serveHTTP(ctx context.Context, p *proxy.Proxy, f serveFlags) error {
	if err := f.guard(); err != nil {
		return err
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive()}
	l, err := lc.Listen(ctx, "tcp", f.http)
	if err != nil {
		return (&Error{Code: exitConnect, Err: fmt.Errorf("listen on %s: %w", f.http, err)}).withHint("choose another address: mcpctl serve --http 127.0.0.1:0")
	}
	o := proxy.HTTPOptions{AnyHost: f.insecure, StreamMax: a.settings.Serve.StreamMax}
	front, old := p.NewHTTPFront(o), p.NewSSEFront(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", front)
	mux.Handle("/sse", old)
	mux.Handle("/messages", old.Messages())
	alive := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // a prober that has gone needs no answer
	}
	mux.HandleFunc("/healthz", alive)
	mux.HandleFunc("/readyz", alive) // backends connect on demand: listening is being ready
	// No write timeout: streams last.
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	fmt.Fprintf(a.ui.Err, "listening on http://%s/mcp\n", l.Addr())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	front.Close()
	old.Close()
	// Requests have been ended by now; what can still wait is an answer being
	// written, or a connection on which nothing was ever asked, which Shutdown
	// would give five seconds.
	const linger = time.Second
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), linger)
	defer cancel()
	if err := srv.Shutdown(closing); err != nil {
		_ = srv.Close() // requests that go on are cut
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// keepAlive finds a client that has gone without a word within a minute.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
}

// guard refuses an address that other machines can reach: anyone there could
// call every tool.
func (f *serveFlags) guard() error {
	host, _, err := net.SplitHostPort(f.http)
	if err != nil {
		return usagef("address %q: want HOST:PORT", f.http).withHint("mcpctl serve --http %s", defaultServeAddr)
	}
	ip := net.ParseIP(host)
	if f.insecure || strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usagef("%s can be reached from other machines, and there is no authentication", f.http).
		withHint("use %s, or --insecure where the network is trusted", defaultServeAddr)
}
