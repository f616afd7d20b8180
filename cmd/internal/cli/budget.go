package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/internal/views"
)

func newBudget(a *app) *cobra.Command {
	var check, every bool
	var limit int
	var view string
	cmd := &cobra.Command{
		Use:   "budget [SERVER...]",
		Short: "Show how many tokens tools take in a client's context",
		Long: "Show how many tokens the definitions of tools take in a client's context, by server, as they were last listed. The figures are\n" +
			"estimates for the vocabulary o200k_base. Nothing is started. With --view, they are those that a view of serve shows.\n" +
			"RESULTS is how many tokens results took that serve has had. Half of them took not more than the first number, 99 of 100\n" +
			"not more than the second.\n" +
			"With --check the exit code is 10 if the tools take more than --limit, or than the budget of the view. Without --view\n" +
			"and --limit, it is 10 if any view is over its budget.",
		Example: "  mcpctl budget\n  mcpctl budget gh --tools\n  mcpctl budget --check --limit 20000",
		RunE: func(cmd *cobra.Command, servers []string) error {
			switch {
			case limit < 0 || cmd.Flags().Changed("limit") && limit == 0:
				return usagef("--limit is %d, want a number of tokens", limit)
			}
			var of *views.View
			if view != "" {
				var err error
				if of, err = find.ViewNamed(a.settings.Serve.Views, view); err != nil {
					return err
				}
			}
			from, stored, err := budgetSource(cmd.Context(), a, servers)
			if err != nil {
				return err
			}
			from.Every, from.Limit = every, limit
			r := from.Report(of)
			checked := []Report{r}
			if check && of == nil && limit == 0 {
				checked = from.WithBudget(a.settings.Serve.Views)
			}
			if check && of != nil && r.Budget == 0 {
				return usagef("view %s has no budget, and --check needs one", view).withHint("mcpctl budget --check --view %s --limit 20000", view)
			}
			if check && (len(checked) == 0 || checked[0].Budget == 0) {
				return usagef("--check needs a limit, or a view with a budget").withHint("mcpctl budget --check --limit 20000")
			}
			if err := r.Print(a.ui, every); err != nil {
				return err
			}
			stored.Warn(a.ui)
			if over := Over(checked); check && over != "" {
				return &Error{Code: exitDrift, Err: errors.New(over), Remedy: "mcpctl budget --tools shows which tools take most"}
			}
			return nil
		},
	}
	a.completeServers(cmd)
	cmd.Flags().BoolVar(&every, "tools", false, "show every tool")
	cmd.Flags().BoolVar(&check, "check", false, "exit code 10 if the tools, or those of any view, take more than is allowed")
	cmd.Flags().IntVar(&limit, "limit", 0, "how many `TOKENS` are allowed; without it, the budget of the view")
	a.viewFlag(cmd, &view, "only what the view `NAME` shows")
	return a.paged(cmd)
}

// budgetSource returns what reports of the cost of tools are made of.
func budgetSource(ctx context.Context, a *app, servers []string) (*Source, find.Stored, error) {
	stored, err := storedTools(ctx, a, servers)
	if err != nil {
		return nil, stored, err
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, stored, err
	}
	return &Source{Serve: a.settings.Serve, Servers: f.Enabled(), Lists: stored.Lists, Results: a.known().Results(ctx, stored.Servers)}, stored, nil
}
