package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newServe(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve [-- COMMAND [ARGS...]]",
		Short:   "Put all configured servers behind one endpoint",
		Long:    gateway.ServeLong,
		Example: "  mcpctl serve\n  mcpctl serve --http 127.0.0.1:8080 --server fs,gh\n  mcpctl serve --http -- npx -y @modelcontextprotocol/server-memory\n  mcpctl serve --socket ~/mcp.sock",
		Args:    cobra.ArbitraryArgs,
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
	fl.Lookup("http").NoOptDefVal = gateway.DefaultAddress
	fl.StringVar(&f.socket, "socket", "", "serve HTTP on the Unix socket at this `PATH`, only for this user")
	fl.StringSliceVar(&f.servers, "server", nil, "serve only these `NAMES`, separated by commas")
	fl.StringVar(&f.view, "view", "", "serve the view of this `NAME` to the client on standard input and output")
	fl.Bool("no-prefix", false, "keep the servers' own names")
	fl.String("separator", "__", "`TEXT` between server and name")
	fl.String("request-timeout", "", "give a request up after this `DURATION` without a sign of life, or never (default 120s)")
	fl.String("list-grace", "", "answer a list after this `DURATION` without servers that are still starting, or never (default 20s)")
	fl.String("stream-max", "", "end HTTP streams that last longer than this `DURATION`; clients come back for the rest (default never)")
	fl.String("list", "all", "list all tools, tools that find and call the others, or what takes less: `FORM` is all, search or auto")
	completeWords(cmd, "list", "all", "search", "auto")
	fl.BoolVar(&f.insecure, "insecure", false, "allow an address that other machines reach, without asking for tokens")
	a.adhoc.takenBy(cmd)
	completeFlag(cmd, "server", a.serverFlag())
	cmd.AddCommand(newServeInit(a))
	return cmd
}

// serveFlags are the flags of mcpctl serve that are not settings.
type serveFlags struct {
	http     string
	socket   string
	servers  []string
	view     string
	insecure bool
}

// resolve reads the environment, and takes the word behind a bare --http as its
// address.
func (f *serveFlags) resolve(a *app, cmd *cobra.Command, words []string) error {
	given := cmd.Flags().Changed
	if v := a.getenv(settings.Variable("http")); v != "" && !given("http") {
		f.http = v
	}
	if v := a.getenv(settings.Variable("socket")); v != "" && !given("socket") {
		f.socket = v
	}
	if f.socket != "" && f.http != "" {
		return usagef("--http and --socket: want one of them")
	}
	if v := a.getenv(settings.Variable("view")); v != "" && !given("view") {
		f.view = v
	}
	if f.view != "" && (f.http != "" || f.socket != "") {
		return usagef("--view is for standard input and output").withHint("clients over HTTP name the view in the address: http://HOST:PORT/mcp/%s", f.view)
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
	return f.address(words, given("http"))
}

// address takes the address behind --http, which its flag leaves among the words.
func (f *serveFlags) address(words []string, http bool) error {
	isAddress := func(w string) bool { return strings.ContainsAny(w, ":.") || strings.Trim(w, "0123456789") == "" }
	if i := slices.IndexFunc(words, isAddress); http && f.http == gateway.DefaultAddress && i >= 0 {
		f.http, words = words[i], slices.Delete(slices.Clone(words), i, i+1)
	}
	if len(words) > 0 {
		return usagef("unexpected argument %q", words[0]).withHint("name servers with --server %s", words[0])
	}
	return nil
}

// choose returns the servers to serve.
func (f *serveFlags) choose(file *config.File) ([]config.Entry, error) {
	if len(f.servers) > 0 {
		names := make([]string, len(f.servers))
		for i, name := range f.servers {
			names[i] = strings.TrimSpace(name)
		}
		return file.UseAll(names)
	}
	if len(file.Entries()) == 0 {
		return nil, (&Error{Code: exitConfig, Err: fmt.Errorf("no servers in %s", file.Path())}).withHint("mcpctl add NAME, or mcpctl search WORDS")
	}
	if len(file.Enabled()) == 0 {
		return nil, (&Error{Code: exitConfig, Err: fmt.Errorf("every server in %s is disabled", file.Path())}).withHint("%s", `remove "disabled" from one`)
	}
	return file.Enabled(), nil
}

// serve runs until the client disconnects (stdio) or a signal comes.
func (a *app) serve(ctx context.Context, f serveFlags) error {
	if a.adhoc.given() {
		if len(f.servers) > 0 {
			return usagef("--server goes without --url and without a command behind --")
		}
		entry := a.adhoc.entry()
		entry.Name = a.adhoc.name()
		return a.runGateway(ctx, gateway.Options{Command: "serve", Entries: []config.Entry{entry}, HTTP: f.http, Insecure: f.insecure, View: f.view})
	}
	o := gateway.Options{Command: "serve", Servers: f.servers, HTTP: f.http, Socket: f.socket, Insecure: f.insecure, View: f.view}
	if err := a.serveLayers(&o); err != nil {
		return err
	}
	var err error
	if o.Entries, err = f.choose(o.File); err != nil {
		return err
	}
	return a.runGateway(ctx, o)
}

// serveLayers reads the configuration of a gateway, which follows it.
func (a *app) serveLayers(o *gateway.Options) error {
	set, err := a.loadLayers()
	if err != nil {
		return err
	}
	a.file.set, a.file.path = set, a.settings.ConfigPath // for entry
	o.File = set.File()
	o.Layers = layers.WatchOptions{
		Set: set, Places: Places(a.getenv, a.settings.ConfigPath, a.settings.ConfigAlone), Trust: Trust(a.getenv),
	}
	return nil
}

// promises returns a key of servers.json that other gateways protect their HTTP front by,
// "" for none.
func promises(f *config.File) string {
	for _, key := range f.Unknown() {
		if slices.Contains([]string{"serverAuth", "acl", "oauthAs"}, key) {
			return key
		}
	}
	return ""
}

// runGateway runs a gateway in this process.
func (a *app) runGateway(ctx context.Context, o gateway.Options) error {
	if (o.HTTP != "" || o.Socket != "") && o.File != nil {
		if key := promises(o.File); key != "" {
			return (&Error{Code: exitConfig, Err: fmt.Errorf("%s: %q does not protect mcpctl serve", o.File.Path(), key)}).
				withHint("remove %q; say in config.yaml who is let in, as in serve: {auth: [token: {}]}", key)
		}
	}
	a.LongRunning.Store(true)
	h := gateway.Host{
		UI: a.ui, Log: a.log, Getenv: a.getenv, Settings: a.settings, Info: a.implementation(),
		Dial: a.dialOptions, Tokens: authCommands{a}.tokenStore(), Guard: a.guard(),
		Hurry: a.Hurry, HurryUp: a.HurryUp, OnHangup: a.OnHangup,
	}
	if a.settings.ConfigPath != "" && !a.adhoc.given() {
		h.Listed = policies.Listed(a.knownWhole())
	}
	if dirs := a.settings.Serve.Roots; len(dirs) > 0 {
		h.Roots = answerRoots(dirs)
	}
	return gateway.Run(ctx, h, o)
}
