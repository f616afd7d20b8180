package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newRemove(a *app) *cobra.Command {
	project, yes := false, false
	cmd := &cobra.Command{
		Use:     "remove ALIAS...",
		Aliases: []string{"rm"},
		Short:   "Remove servers from the configuration",
		Long: "Remove servers from servers.json, with the comments directly above and after each entry.\n" +
			"If one is unknown, none is removed. On a terminal it asks first; -y answers that.",
		Example: "  mcpctl remove fs gh",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.remove(cmd.Context(), args, project, yes) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "remove them from the file of this project")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	a.completeServers(cmd)
	return cmd
}

func (a *app) remove(ctx context.Context, aliases []string, project, yes bool) error {
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
	if !yes {
		if sure, err := a.sureToRemove(ctx, target, removed); err != nil || !sure {
			return err
		}
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

// sureToRemove asks on a terminal whether entries are to go. Where one is not there the answer
// is yes: the removal says so.
func (a *app) sureToRemove(ctx context.Context, target *Target, aliases []string) (bool, error) {
	asker := a.askable()
	if asker == nil {
		return true, nil
	}
	f, err := target.Load()
	if err != nil {
		return false, err
	}
	lines := make([]string, len(aliases))
	for i, alias := range aliases {
		e, ok := f.Entry(alias)
		if !ok {
			return true, nil
		}
		lines[i] = alias + ": " + e.Target()
	}
	for _, line := range lines {
		a.ui.Say("%s", line)
	}
	yes, err := asker.Confirm(ctx, ui.Question{Message: "Remove " + strings.Join(aliases, ", ") + " from " + target.Path, Flag: "--yes", Default: ui.No})
	if err == nil && !yes {
		a.ui.Info("nothing was removed")
	}
	return yes, err
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
