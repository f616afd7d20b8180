package cli

import (
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
			return s.Listen(cmd.Context(), addr, a.ui.Err)
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "serve Streamable HTTP at /mcp of this `address`; port 0 is any free port")
	return cmd
}
