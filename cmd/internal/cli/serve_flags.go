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
