package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/generating"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newGenerate(a *app) *cobra.Command {
	var o generating.Options
	cmd := &cobra.Command{
		Use:   "generate SERVER... | generate [NAME] -- COMMAND [ARGS...]",
		Short: "Write a typed Go client for a server",
		Long: `Write a Go package for each server. Each tool becomes a method with a parameter
struct; prompts and resources become methods too. A test double is written into a
separate folder. The package imports only the standard library and packages below
mcpctl's runtime. A second run writes the same bytes, and does not touch unchanged
files.

mcpctl.lock.json holds what the code was made from. --from reads such a file, or
any tools/list result, instead of the server. SERVER then only names the package
and need not be configured. The file remembers --package, --standalone and --number
for the runs that follow.

--lang ts and py, and --view with any language, write one file with a function for
each tool. The functions call mcpctl serve at the address MCPCTL_URL, with the
token MCPCTL_TOKEN. Serve has the same files as resources of each view.

--record calls read-only tools without required arguments, and reads resources
and prompts. The answers become fixtures for tests. Nothing else is called.`,
		Example: `  mcpctl generate everything
  mcpctl generate fs --out ./internal/fs --package fs
  mcpctl generate fs --from ./generated/fs/mcpctl.lock.json --check
  mcpctl generate --lang ts --view coding --out tools.ts
  mcpctl generate memory --record ./testdata/memory
  mcpctl generate memory -- npx -y @modelcontextprotocol/server-memory`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && a.adhoc.given() {
				args = []string{a.adhoc.name()}
			}
			o.Given = cmd.Flags().Changed
			if o.Declares() {
				return generating.Declare(cmd.Context(), a.generatingHost(), o, args)
			}
			if err := o.Validate(args, a.adhoc.given()); err != nil {
				return err
			}
			return generating.Run(cmd.Context(), a.generatingHost(), o, args)
		},
	}
	a.adhoc.takenBy(cmd)
	a.completeServers(cmd)
	fl := cmd.Flags()
	fl.StringVar(&o.Out, "out", "", "the package's `DIR` (default ./generated/SERVER); with several servers their parent. With --view or --lang ts, py: the file (default standard output)")
	fl.StringVar(&o.Package, "package", "", "the package's `NAME` (default from the server's)")
	fl.StringVar(&o.From, "from", "", "read the tools from a `FILE` (- is standard input) instead of the server")
	fl.BoolVar(&o.Check, "check", false, "write nothing; exit 10 if a file would change")
	fl.StringArrayVar(&o.Tools, "tools", nil, "only tools whose name matches this `GLOB` (repeatable)")
	fl.BoolVar(&o.Standalone, "standalone", false, "put the support code into the package, which then needs no mcpctl")
	fl.StringVar(&o.Record, "record", "", "call what is read-only and write fixtures into `DIR`; with several servers their parent")
	fl.StringVar(&o.Number, "number", generating.NumberFloat, "the `TYPE` of numbers in Go: float64, or json for json.Number, which keeps every digit")
	completeWords(cmd, "number", generating.NumberFloat, generating.NumberJSON)
	fl.StringVar(&o.Lang, "lang", generating.LangGo, "the `LANGUAGE`: go, ts or py; with ts and py, one file with the tools as serve shows them")
	completeWords(cmd, "lang", generating.LangGo, "ts", "py")
	a.viewFlag(cmd, &o.View, "the tools that the view `NAME` of serve shows, as one file")
	return cmd
}

// generatingHost returns what package generating needs of this run.
func (a *app) generatingHost() generating.Host {
	return generating.Host{
		UI: a.ui, Verbose: a.settings.Verbose > 0, AdHoc: a.adhoc.given(), Headers: a.settings.Headers,
		Prepare: a.shareConfig, Of: a.withServer, Stdin: a.readStdin, Serve: a.settings.Serve,
		Enabled: func() ([]config.Entry, error) {
			f, err := a.loadConfig()
			if err != nil {
				return nil, err
			}
			return f.Enabled(), nil
		},
		With: func(ctx context.Context, server string, use func(*generating.Server) error) error {
			return a.with(ctx, []string{server}, func(s *session, _ []string) error {
				return use(&generating.Server{Client: s.Client.Client, Pages: s.ListPages})
			})
		},
		Entry: func(server string) (config.Entry, error) {
			if a.adhoc.given() {
				server = ""
			}
			return a.entryOrURL(server)
		},
	}
}
