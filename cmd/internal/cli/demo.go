package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/demo"
)

func newDemo(a *app) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show everything on built-in parts, without a network",
		Long: "Demo starts a registry and an MCP server on this machine, and runs mcpctl against them: search,\n" +
			"add, call, generate, serve. It prints and runs each command, in a temporary directory. Your files\n" +
			"are not touched. Inside a checkout of mcpctl, the generated client is compiled too.\n\n" +
			"The output is text, also into a pipe. With --json it is one object:\n" +
			"{\"dir\",\"kept\",\"steps\":[{\"command\",\"exit\",\"stdout\",\"stderr\"}]}",
		Example: "  mcpctl demo\n  mcpctl demo --keep",
		Args:    cobra.NoArgs,
		// The tour has settings of its own, so config.yaml does not matter.
		Annotations:       map[string]string{anyFiles: "yes"},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"config", "registry", "url", "header", "protocol-version"} {
				if cmd.Flags().Changed(name) {
					return usagef("--%s cannot be used with demo, which has its own servers", name)
				}
			}
			return a.demo(cmd.Context(), keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the directory and print its path")
	cmd.AddCommand(newDemoRegistry(a))
	return cmd
}

func newDemoRegistry(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "registry",
		Short: "Serve the demo's sample registry until Ctrl+C",
		Long: "Serve the sample records of the demo as a registry on a free port of this machine, until Ctrl+C.\n" +
			"It prints the line that makes search, info and add use it. The sample packages are made up.",
		Example:           "  mcpctl demo registry",
		Args:              cobra.NoArgs,
		Annotations:       map[string]string{anyFiles: "yes"},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.LongRunning.Store(true)
			return demo.Registry(cmd.Context(), func(url string) error {
				if a.ui.JSON {
					return a.ui.EncodeJSON(map[string]string{"registry": url})
				}
				_, err := fmt.Fprintf(a.ui.Out, "serving the sample records until Ctrl+C; in another terminal:\nexport MCPCTL_REGISTRY=%s\n", url)
				return err
			})
		},
	}
}

func (a *app) demo(ctx context.Context, keep bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("demo: find mcpctl itself: %w", err)
	}
	a.LongRunning.Store(true)
	return demo.Tour(ctx, demo.TourOptions{
		Executable: self, Version: buildVersion().Version, Out: a.ui.Out, JSON: a.ui.JSON, Color: a.ui.Color, Keep: keep,
	})
}
