package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newUpdate(a *app) *cobra.Command {
	u, project := &adding.Updater{}, false
	cmd := &cobra.Command{
		Use: "update [ALIAS...]", Short: adding.Short, Long: adding.Long, Example: adding.Example,
		RunE: func(cmd *cobra.Command, aliases []string) error {
			target, err := a.editable(project)
			if err == nil {
				err = target.Trusted()
			}
			if err != nil {
				return err
			}
			u.Host = (&addCommand{app: a, target: target}).host()
			u.Registry = registryCommands{a}.registries().At
			u.Known, u.Packages = find.NewKnown(config.StateDir(a.getenv), a.settings.ConfigPath, a.log), &packages.Tools{Hurry: a.Hurry}
			return target.Explain(u.Run(cmd.Context(), aliases))
		},
	}
	cmd.Flags().SortFlags = false
	for _, f := range u.Options.Flags() {
		cmd.Flags().BoolVarP(f.Value, f.Name, f.Short, false, f.Usage)
	}
	cmd.Flags().BoolVar(&project, "project", false, "update the file of this project")
	a.completeServers(cmd)
	return cmd
}
