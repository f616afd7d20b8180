package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newRemove(a *app) *cobra.Command {
	project := false
	cmd := &cobra.Command{
		Use:     "remove ALIAS...",
		Aliases: []string{"rm"},
		Short:   "Remove servers from the configuration",
		Long: "Remove servers from servers.json, with the comments directly above and after each entry.\n" +
			"If one is unknown, none is removed.",
		Example: "  mcpctl remove fs gh",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.remove(cmd.Context(), args, project) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "remove them from the file of this project")
	a.completeServers(cmd)
	return cmd
}

func (a *app) remove(ctx context.Context, aliases []string, project bool) error {
	var removed []string
	for _, alias := range aliases {
		if !slices.Contains(removed, alias) {
			removed = append(removed, alias)
		}
	}
	target, err := a.editable(project)
	if err != nil {
		return err
	}
	before := a.unmatched(ctx)
	err = target.Update(func(f *config.File) error {
		for _, alias := range removed { // before any is gone, so that a hint can name it
			if _, ok := f.Entry(alias); !ok {
				return f.Remove(alias)
			}
		}
		for _, alias := range removed {
			if err := f.Remove(alias); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.bundles().Prune(ctx); err != nil {
		a.ui.Info("warning: a bundle that no server uses is still there: %s", err)
	}
	a.noteUnmatched(before, a.unmatched(ctx))
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(map[string]any{"removed": removed})
	}
	for _, alias := range removed {
		if _, err := fmt.Fprintf(a.ui.Out, "removed %s\n", ui.CleanLine(alias)); err != nil {
			return err
		}
	}
	return nil
}

// noteUnmatched names the policies that a change leaves without what they are about.
func (a *app) noteUnmatched(before, after []settings.Unmatched) {
	for i := range after {
		u := &after[i]
		if !slices.ContainsFunc(before, func(o settings.Unmatched) bool { return o.Policy.ID == u.Policy.ID && o.Message == u.Message }) {
			noteProblem(a.ui, u.Problem())
		}
	}
}
