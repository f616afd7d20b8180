package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/demo"
)

// newDemoServer returns the hidden command of the demo's own MCP server.
func newDemoServer(a *app) *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:    "demo-server",
		Short:  "The demo's MCP server, on standard input and output or HTTP",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := demo.NewServer(buildVersion().Version)
			a.LongRunning.Store(true)
			if addr == "" {
				return s.Serve(cmd.Context(), a.ui.In, a.ui.Out)
			}
			return a.serveDemo(cmd.Context(), s, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "serve Streamable HTTP at /mcp of this `address`; port 0 is any free port")
	return cmd
}

// serveDemo serves over HTTP until ctx ends.
func (a *app) serveDemo(ctx context.Context, s *demo.Server, addr string) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("demo-server: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(a.ui.Err, "listening on http://%s/mcp\n", l.Addr())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = errors.Join(srv.Close(), <-done)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
