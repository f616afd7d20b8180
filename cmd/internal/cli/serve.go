package cli

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/config"
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
	completeFlag(cmd, "server", func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		return a.serverCompletions(begun), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

const defaultServeAddr = "127.0.0.1:8080"

// serveFlags are the flags of mcpctl serve that are not settings.
type serveFlags struct {
	http     string
	servers  []string
	insecure bool
}

// resolve reads the environment, and takes the word behind a bare --http as its
// address.
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

// choose returns the servers to serve.
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

// guard refuses an address that other machines can reach: anyone there could
// call every tool.
func (f *serveFlags) guard() error {
	host, port, err := net.SplitHostPort(f.http)
	if err != nil {
		return usagef("address %q: want HOST:PORT", f.http).withHint("mcpctl serve --http %s", defaultServeAddr)
	}
	if n, err := strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
		return usagef("address %q: a port is at most 65535", f.http).withHint("mcpctl serve --http %s", defaultServeAddr)
	}
	ip := net.ParseIP(host)
	if f.insecure || strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usagef("%s can be reached from other machines, and there is no authentication", f.http).
		withHint("use %s, or --insecure where the network is trusted", defaultServeAddr)
}
