package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newBridge(a *app) *cobra.Command {
	b := bridgeCommand{a: a}
	cmd := &cobra.Command{
		Use:     "bridge URL|SERVER | bridge --http ADDR -- COMMAND [ARGS...]",
		Short:   "Offer one server on another transport",
		Long:    gateway.BridgeLong,
		Example: "  mcpctl bridge https://api.example.com/mcp\n  mcpctl bridge gh --serial\n  mcpctl bridge --http 127.0.0.1:8080 -- npx -y @modelcontextprotocol/server-memory",
		Args:    cobra.ArbitraryArgs, // settings, and --url with them, are read later
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.flagsFromEnvironment(cmd, "http", "insecure", "serial", "no-server-stream", "max-message-bytes", "isolation"); err != nil {
				return err
			}
			return b.run(cmd.Context(), words, cmd.ArgsLenAtDash())
		},
	}
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.BoolVar(&b.o.Serial, "serial", false, "handle one message after another, in the order of standard input")
	fl.BoolVar(&b.o.NoServerStream, "no-server-stream", false, "do not open the stream for messages outside of calls")
	fl.IntVar(&b.o.MaxMessageBytes, "max-message-bytes", 0, "accept messages of the server up to `N` bytes (default 67108864)")
	fl.StringVar(&b.o.HTTP, "http", "", "serve HTTP on this `ADDR` (port 0: any free port)")
	fl.StringVar(&b.isolation, "isolation", "", "which clients of --http share the server: `HOW` is auto, shared, principal or session")
	fl.String("request-timeout", "", "end a request after this `DURATION` without an answer or progress, or never (default 120s)")
	fl.String("stream-max", "", "end HTTP streams that last longer than this `DURATION`; clients then reconnect (default never)")
	fl.BoolVar(&b.o.Insecure, "insecure", false, "allow an address that other machines can reach; there is no authentication")
	fl.BoolVar(&b.o.NoPolicy, "no-policy", false, "with a command behind --: serve it although policies are about it, which are not asked")
	a.adhoc.takenBy(cmd)
	completeWords(cmd, "isolation", isolations()...)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(words) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		a.setupCompletion(cmd)
		return a.serverCompletions(begun), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func isolations() []string { return []string{"auto", "shared", "principal", "session"} }

// bridgeCommand is one run of mcpctl bridge.
type bridgeCommand struct {
	a         *app
	o         gateway.Options
	isolation string
}

// run serves the server that the words name; dash is how many of them stand before "--",
// -1 without.
func (b *bridgeCommand) run(ctx context.Context, words []string, dash int) error {
	if b.o.Serial && b.o.HTTP != "" {
		return usagef("--serial is about standard input: it has no meaning with --http")
	}
	if n := b.o.MaxMessageBytes; n != 0 && (n < config.MinMessage || n > config.MaxMessage) {
		return usagef("--max-message-bytes is %d, want %d to %d", n, config.MinMessage, config.MaxMessage)
	}
	entry, err := b.server(words, dash)
	if err != nil {
		return err
	}
	if b.isolation != "" {
		if b.o.File != nil {
			return usagef("the isolation of %s is set in its entry", entry.Name).withHint("mcpctl config edit")
		}
		if !slices.Contains(isolations(), b.isolation) {
			return usagef("--isolation is %q, want %s", b.isolation, plain.JoinOr(isolations()))
		}
		entry.Isolation = b.isolation
	}
	if b.a.adhoc.command != nil && b.o.HTTP != "" {
		err = b.a.file.policies.Unread(b.a.named(entry), "bridge", b.o.NoPolicy, b.a.ui.Say)
	} else if b.o.NoPolicy {
		err = usagef("--no-policy is for bridge --http ADDR -- COMMAND; another server obeys the policies")
	}
	if err != nil {
		return err
	}
	b.o.Command, b.o.Bridge, b.o.Entries = "bridge", true, []config.Entry{entry}
	return b.a.runGateway(ctx, b.o)
}

// server returns the entry of the server that the words name, and notes the
// configuration that has it.
func (b *bridgeCommand) server(words []string, dash int) (config.Entry, error) {
	usage := func(format string, a ...any) (config.Entry, error) {
		return config.Entry{}, usagef(format, a...).withHint("mcpctl bridge --help")
	}
	switch {
	case len(words) > 0 && b.a.adhoc.command != nil:
		return usage("want one of URL, SERVER, and -- COMMAND")
	case dash >= 0:
		return usage("no command after --")
	case len(words) > 1:
		return usage("unexpected argument %q", words[1])
	case len(words) == 1 && b.a.settings.URL != "":
		return usage("unexpected argument %q with --url", words[0])
	case len(words) == 1 && strings.Contains(words[0], "://"):
		return Remote(words[0])
	case len(words) == 0 && b.a.adhoc.given():
		return b.a.entryOrURL("")
	case len(words) == 0 && b.a.getenv(UpstreamURL) != "":
		entry, version, err := Upstream(b.a.getenv, b.a.ui.Info, b.a.settings.ProtocolVersion)
		b.a.settings.ProtocolVersion = version
		return entry, err
	case len(words) == 0:
		return usage("missing argument: mcpctl bridge URL|SERVER")
	}
	if err := b.a.serveLayers(&b.o); err != nil {
		return config.Entry{}, err
	}
	b.o.Servers = words
	return b.a.entry(words[0])
}

// flagsFromEnvironment sets flags of a command that are not given by their variables.
func (env *environment) flagsFromEnvironment(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		variable := settings.Variable(name)
		value := env.getenv(variable)
		if value == "" || cmd.Flags().Changed(name) {
			continue
		}
		if cmd.Flags().Lookup(name).Value.Type() == "bool" {
			on, err := settings.Boolean(value)
			if err != nil {
				return usagef("%s is %q, %w", variable, value, err)
			}
			value = fmt.Sprint(on)
		}
		if err := cmd.Flags().Set(name, value); err != nil {
			return usagef("%s is %q, which is not a value of --%s", variable, value, name)
		}
	}
	return nil
}
