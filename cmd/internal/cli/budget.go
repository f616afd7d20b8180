package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/budget"
	"github.com/mcpctl/mcpctl/cmd/internal/find"
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
			"With --check the exit code is 10 if it is more than --limit, or than the budget of the view.",
		Example: "  mcpctl budget\n  mcpctl budget gh --tools\n  mcpctl budget --check --limit 20000",
		RunE: func(cmd *cobra.Command, servers []string) error {
			switch {
			case limit < 0 || cmd.Flags().Changed("limit") && limit == 0:
				return usagef("--limit is %d, want a number of tokens", limit)
			}
			lists, err := storedTools(cmd.Context(), a, servers)
			if err != nil {
				return err
			}
			r, err := budgetOf(a, lists.Lists, view, limit, every)
			if err != nil {
				return err
			}
			if check && r.Budget == 0 {
				return usagef("--check needs a limit, or a view with a budget").withHint("mcpctl budget --check --limit 20000")
			}
			if err := r.Print(a.ui, every); err != nil {
				return err
			}
			lists.Note(a.ui)
			if check && r.Over() {
				return &Error{Code: exitDrift, Err: fmt.Errorf("the tools take %d tokens, allowed are %d", r.Cost(), r.Budget), Remedy: "mcpctl budget --tools shows which tools take most"}
			}
			return nil
		},
	}
	a.completeServers(cmd)
	cmd.Flags().BoolVar(&every, "tools", false, "show every tool")
	cmd.Flags().BoolVar(&check, "check", false, "exit code 10 if the tools take more than is allowed")
	cmd.Flags().IntVar(&limit, "limit", 0, "how many `TOKENS` are allowed; without it, the budget of the view")
	viewFlag(a, cmd, &view)
	return cmd
}

// budgetOf returns what tools cost, in a view unless that is "".
func budgetOf(a *app, lists []find.List, view string, limit int, every bool) (budget.Report, error) {
	serve := a.settings.Serve
	if view == "" {
		r := budget.Of(lists, limit, every)
		r.Choose(serve, nil, lists)
		return r, nil
	}
	v, all, trusted, err := seenIn(a, view, lists)
	if err != nil {
		return budget.Report{}, err
	}
	shown, pinned := budget.In(v, all, trusted)
	r := budget.Of(shown, limit, every)
	r.Choose(serve, v, shown)
	r.List.Search += pinned
	return r, nil
}
