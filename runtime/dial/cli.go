package dial

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func (d *dialer) cli(ctx context.Context) (runtime.Transport, error) {
	return clitool.Open(ctx, d.cliOptions())
}

// cliOptions returns how the command-line tool of the entry is made a server.
func (d *dialer) cliOptions() clitool.Options {
	e := d.Entry
	shutdown := d.o.ShutdownTimeout
	if shutdown == 0 {
		shutdown = e.ShutdownTimeout
	}
	args := make([]string, len(d.Args))
	for i, arg := range d.Args {
		args[i] = arg.Reveal()
	}
	return clitool.Options{
		Program: clitool.Program{
			Command: d.Command, Args: args, Env: config.Revealed(d.Env), Dir: d.Cwd,
			Shutdown: shutdown, Hurry: d.o.Hurry, Guard: d.o.Guard, Redactor: d.redact, Logger: d.o.Logger,
		},
		Exposure: clitool.Exposure{Only: e.CLIOnly, Deny: e.CLIDeny, FreeArgs: e.CLIArgs},
		Name:     e.Name, Depth: e.CLIDepth, Help: e.CLIHelp, Tools: e.Tools, Roots: d.CLIRoots,
		Cache: d.o.ToolCache, Handler: d.handler(), Logger: d.o.Logger,
	}
}

// Commands returns what the help of an entry's command-line tool says. Errors are those
// of [Dial].
func Commands(ctx context.Context, entry config.Entry, o Options) (clitool.Found, error) {
	o.defaults()
	expanded, err := entry.Expand(o.Lookup)
	if err != nil {
		return clitool.Found{}, err
	}
	d := &dialer{Expanded: expanded, o: o, redact: expanded.Redactor()}
	d.o.Logger = slog.New(d.redact.Handler(o.Logger.Handler())).With("server", entry.Name)
	if limit := cmp.Or(o.ConnectTimeout, entry.ConnectTimeout, defaultConnectTimeout); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return clitool.Discover(ctx, d.cliOptions())
}
