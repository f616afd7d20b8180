package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/bundle"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

func newAdd(a *app) *cobra.Command {
	c, project := &addCommand{app: a}, false
	cmd := &cobra.Command{
		Use:   "add NAME[@VERSION] | ALIAS [--cli] -- COMMAND ARGS... | [ALIAS] URL | ALIAS JSON | ./server.json | ./FILE.mcpb",
		Short: "Add a server, from the registry or by hand",
		Long: "Add a server to servers.json.\n\n" +
			"NAME is a server in the registry. Its last part is enough if only one server has it.\n" +
			"Values that you must supply become placeholders such as ${TOKEN}. They are read from the\n" +
			"environment when the server is used.\n\n" +
			"A bundle (mcpb) of a record, or in a file, is unpacked into the state directory. It goes when no\n" +
			"entry uses it any more.\n\n" +
			"The values of --env, --arg, --var and --header are written unchanged. ${NAME} is a placeholder,\n" +
			"and $$ is a dollar sign. --env NAME without a value is short for --env NAME='${NAME}'.\n\n" +
			"With --cli, the command is a command-line tool, and its subcommands become tools. On a terminal\n" +
			"mcpctl asks which. Without an answer, only subcommands that read are exposed.",
		Example: "  mcpctl add io.github.acme/thing\n" +
			"  mcpctl add io.github.acme/thing@1.2.0 --as things --env THING_REGION=eu\n" +
			"  mcpctl add fs -- npx -y @modelcontextprotocol/server-filesystem '${HOME}/notes'\n" +
			"  mcpctl add gh https://api.example.com/mcp --header 'Authorization=Bearer ${GITHUB_TOKEN}'\n" +
			"  mcpctl add k8s --cli --cli-only get --cli-only describe -- kubectl",
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd, args, project) },
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json", "mcpb"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	f := cmd.Flags()
	f.SortFlags = false
	o := &c.o
	f.StringVar(&o.As, "as", "", "name of the entry, an `ALIAS`")
	f.VarP((*givenFlag)(&o.Env), "env", "e", "set an environment variable, `NAME=VALUE` (repeatable)")
	f.Var((*givenFlag)(&o.Args), "arg", "set an argument of the record, `NAME=VALUE` (repeatable)")
	f.Var((*givenFlag)(&o.Vars), "var", "set a template variable of the record, `NAME=VALUE` (repeatable)")
	f.VarP(headerFlag{(*givenFlag)(&o.Headers)}, "header", "H", "set a header of a remote server, `NAME=VALUE` (repeatable)")
	f.StringVar(&o.Package, "package", "", "use this package, a `TYPE|NUMBER`")
	f.StringVar(&o.Remote, "remote", "", "use a remote, the best or the one with this `NUMBER`")
	f.Lookup("remote").NoOptDefVal = "best"
	f.BoolVar(&o.Pre, "pre", false, "allow a prerelease if the registry calls it the latest version")
	f.BoolVar(&project, "project", false, "write to the file of this project, .mcpctl/servers.json")
	f.BoolVar(&o.Replace, "replace", false, "replace an entry of the same name")
	f.BoolVar(&o.Force, "force", false, "add a record that is refused as dangerous")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the entry and write nothing")
	f.BoolVarP(&o.Yes, "yes", "y", false, "ask for no values and no confirmation")
	f.StringVar(&o.Cwd, "cwd", "", "with a command: start it in `DIR`")
	f.BoolVar(&o.CLI.On, "cli", false, "with a command: it is a command-line tool")
	f.StringArrayVar(&o.CLI.Only, "cli-only", nil, "with --cli: expose this `SUBCOMMAND` (repeatable; '*' is all)")
	f.BoolVar(&o.SSE, "sse", false, "with a URL: the server speaks the older HTTP+SSE")
	f.StringVar(&c.transport, "transport", "", "`http` or sse for a URL, stdio for a command; it may be left out")
	completeWords(cmd, "transport", "http", "sse", "stdio")
	f.BoolVar(&c.check, "check", false, "start it and list its tools, as add does on a terminal; exit 6 if that fails, and the entry stays")
	return cmd
}

// addCommand is one run of add.
type addCommand struct {
	*app
	o      adding.Options
	target *Target
	// transport is the word of --transport, as claude mcp add has it.
	transport string
	// check is set to try what was added in scripts as well.
	check bool
}

// questions returns who is asked.
func (a *app) questions() func() ui.Asker {
	return func() ui.Asker {
		if a.asker != nil {
			return a.asker
		}
		return a.ui.Asker()
	}
}

func (c *addCommand) run(cmd *cobra.Command, args []string, project bool) error {
	var err error
	if c.target, err = c.editable(project); err != nil {
		return err
	}
	dash := cmd.ArgsLenAtDash()
	url := c.settings.URL
	switch {
	case len(c.o.CLI.Only) > 0 && !c.o.CLI.On:
		return usagef("add: --cli-only needs --cli")
	case c.o.CLI.On && dash < 0:
		return usagef("add: --cli needs a command").withHint("mcpctl add ALIAS --cli -- COMMAND ARGS...")
	case dash >= 0 && url != "":
		return usagef("add: --url and a command after -- cannot be used together")
	case dash >= 0 && c.transport != "" && c.transport != config.TransportStdio:
		return usagef("add: --transport %s needs a URL, not a command", c.transport).withHint("mcpctl add ALIAS URL --transport %s", c.transport)
	case dash >= 0:
		if dash != 1 || len(args) < 2 || args[1] == "" {
			return usagef("add: want one ALIAS before -- and a command after it").withHint("mcpctl add ALIAS -- COMMAND ARGS...")
		}
		return c.byHand(cmd.Context(), cmd.Flags(), func(add *adding.Adder) (string, error) { return add.Command(cmd.Context(), args[0], args[1:]) })
	case url == "" && len(args) > 0 && len(args) < 3 && isURL(args[len(args)-1]):
		return c.url(cmd, args)
	case url == "" && len(args) == 2 && strings.HasPrefix(strings.TrimSpace(args[1]), "{"):
		return c.byHand(cmd.Context(), cmd.Flags(), func(add *adding.Adder) (string, error) { return add.Entry(cmd.Context(), args[0], args[1]) })
	case len(args) != 1:
		hint := "mcpctl add NAME[@VERSION]"
		if len(args) > 1 {
			hint = "for a command: mcpctl add " + shellWord(args[0]) + " -- " + shellWord(args[1]) + " …"
		}
		return usagef("add: want one name, got %d words", len(args)).withHint("%s", hint)
	case url != "":
		return c.url(cmd, []string{args[0], url})
	}
	if err := c.reject(cmd.Flags(), "a server of the registry", "cwd", "sse", "transport"); err != nil {
		return err
	}
	return c.fromRegistry(cmd.Context(), args[0])
}

// url adds a remote server: its address, behind a name or alone.
func (c *addCommand) url(cmd *cobra.Command, words []string) error {
	address := words[len(words)-1]
	name := words[0]
	switch {
	case len(words) == 2 && c.o.As != "":
		return usagef("add: the name is given twice, as %s and with --as", name)
	case len(words) == 1 && c.o.As != "":
		name, c.o.As = c.o.As, ""
		cmd.Flags().Lookup("as").Changed = false
	case len(words) == 1:
		name = URLName(address)
	}
	switch c.transport {
	case "", config.TransportHTTP, "streamable-http":
	case config.TransportSSE:
		c.o.SSE = true
	default:
		return usagef("add: --transport %s: want http or sse for a URL", c.transport)
	}
	return c.byHand(cmd.Context(), cmd.Flags(), func(add *adding.Adder) (string, error) { return add.URL(cmd.Context(), name, address) })
}

// byHand adds an entry that the user writes out.
func (c *addCommand) byHand(ctx context.Context, flags *pflag.FlagSet, add func(*adding.Adder) (string, error)) error {
	if err := c.reject(flags, "a server by hand", "as", "arg", "var", "package", "remote", "pre", "force"); err != nil {
		return err
	}
	alias, err := add(c.adder())
	if err != nil {
		return err
	}
	c.target.NoteCovered(alias)
	return c.afterwards(ctx, alias)
}

// afterwards offers a login to what was added, and tries it.
func (c *addCommand) afterwards(ctx context.Context, alias string) error {
	ready, err := c.offerLogin(ctx, c.questions()(), alias)
	if err != nil || !ready && !c.check {
		return err
	}
	return c.try(ctx, alias)
}

// fromRegistry adds a record of the registry or a local document.
func (c *addCommand) fromRegistry(ctx context.Context, arg string) error {
	alias, err := c.adder().Record(ctx, arg)
	if err != nil {
		return err
	}
	c.target.NoteCovered(alias)
	return c.afterwards(ctx, alias)
}

func (c *addCommand) adder() *adding.Adder {
	return &adding.Adder{Options: c.o, Host: *c.host()}
}

func (c *addCommand) host() *adding.Host {
	return &adding.Host{
		UI: c.ui, Asker: c.questions(), Getenv: c.getenv, ConfigPath: c.target.Path, Load: c.target.Load, Update: c.target.Update,
		Find: registryCommands{c.app}.find, Dial: c.dialOptions, AllowInsecureHTTP: c.settings.AllowInsecureHTTP,
		Approve: c.file.approve, Bundles: c.bundles(),
	}
}

// bundles is where bundles are unpacked, nil without a state directory.
func (a *app) bundles() *bundle.Store {
	if config.StateDir(a.getenv) == "" {
		return nil
	}
	home, _ := os.UserHomeDir()
	return &bundle.Store{Dir: filepath.Join(config.StateDir(a.getenv), "bundles"), GOOS: runtime.GOOS, Home: home, Say: a.ui.Info}
}

// reject returns an error for flags that do not apply.
func (c *addCommand) reject(flags *pflag.FlagSet, what string, names ...string) error {
	for _, n := range names {
		if flags.Changed(n) {
			return usagef("add: --%s cannot be used with %s", n, what)
		}
	}
	return nil
}

// givenFlag is a repeatable NAME=VALUE, its order kept. NAME alone asks for a
// placeholder.
type givenFlag []scaffold.InputValue

// String returns the default for pflag: none.
func (g *givenFlag) String() string { return "" }

// Type returns pflag's name of the type, which differs from that of the global
// --header.
func (g *givenFlag) Type() string { return pairFlag }

// pairFlag is the type of flags whose values may be secret.
const pairFlag = "pair"

// Set adds one.
func (g *givenFlag) Set(s string) error {
	name, value, hasValue := strings.Cut(s, "=")
	if name == "" {
		return errors.New("want NAME=VALUE") // not quoted: it may be secret
	}
	*g = append(*g, scaffold.InputValue{Name: name, Value: value, Placeholder: !hasValue})
	return nil
}

// headerFlag is a givenFlag that also takes NAME: VALUE, like -H of the other
// commands and of curl; the first of the two signs decides.
type headerFlag struct{ *givenFlag }

// Set adds one.
func (h headerFlag) Set(s string) error {
	if i := strings.IndexAny(s, "=:"); i > 0 && s[i] == ':' {
		*h.givenFlag = append(*h.givenFlag, scaffold.InputValue{Name: s[:i], Value: strings.TrimSpace(s[i+1:])})
		return nil
	}
	return h.givenFlag.Set(s)
}
