package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/registry"
)

func newInfo(a *app) *cobra.Command {
	var pre bool
	cmd := &cobra.Command{
		Use: "info NAME[@VERSION] | ./server.json", Short: adding.InfoShort, Long: adding.InfoLong, Example: adding.InfoExample,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rec, err := registryCommands{a}.find(cmd.Context(), args[0], pre)
			if err != nil {
				return err
			}
			return adding.Info(cmd.Context(), a.ui, func() (*registry.Client, error) { return registryCommands{a}.registries().At(rec.Registry) }, rec)
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&pre, "pre", false, "allow a prerelease if the registry calls it the latest version")
	return a.paged(cmd)
}
