package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/registry"
)

func newInfo(a *app) *cobra.Command {
	var pre bool
	cmd := &cobra.Command{
		Use: "info NAME[@VERSION] | ./server.json", Short: records.InfoShort, Long: records.InfoLong, Example: records.InfoExample,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rec, err := registryCommands{a}.find(cmd.Context(), args[0], pre)
			if err != nil {
				return err
			}
			return records.Info(cmd.Context(), a.ui, func() (*registry.Client, error) { return registryCommands{a}.registries().At(rec.Registry) }, rec)
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&pre, "pre", false, "allow a prerelease if the registry calls it the latest version")
	return cmd
}
