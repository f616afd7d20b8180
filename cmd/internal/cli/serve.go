package cli

import (
	"github.com/spf13/cobra"
)

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
			"allows others. The line \"listening on http://ADDR/mcp\" on standard error says that the port is open.",
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
