package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/budget"
)

func newBudget(a *app) *cobra.Command {
	var check, every bool
	var limit int
	cmd := &cobra.Command{
		Use:   "budget [SERVER...]",
		Short: "Show how many tokens tools take in a client's context",
		Long: "Show how many tokens the definitions of tools take in a client's context, by server, as they were last listed. The figures are\n" +
			"estimates for the vocabulary o200k_base. Nothing is started. With --check the exit code is 10 if it is more than --limit.",
		Example: "  mcpctl budget\n  mcpctl budget gh --tools\n  mcpctl budget --check --limit 20000",
		RunE: func(cmd *cobra.Command, servers []string) error {
			switch {
			case limit < 0 || cmd.Flags().Changed("limit") && limit == 0:
				return usagef("--limit is %d, want a number of tokens", limit)
			case check && limit == 0:
				return usagef("--check needs a limit").withHint("mcpctl budget --check --limit 20000")
			}
			lists, err := storedTools(cmd.Context(), a, servers)
			if err != nil {
				return err
			}
			r := budget.Of(lists.Lists, limit, every)
			if err := r.Print(a.ui, every); err != nil {
				return err
			}
			lists.Note(a.ui)
			if check && r.Over() {
				return &Error{Code: exitDrift, Err: fmt.Errorf("the tools take %d tokens, allowed are %d", r.List.All, limit), Remedy: "mcpctl budget --tools shows which tools take most"}
			}
			return nil
		},
	}
	a.completeServers(cmd)
	cmd.Flags().BoolVar(&every, "tools", false, "show every tool")
	cmd.Flags().BoolVar(&check, "check", false, "exit code 10 if the tools take more than --limit")
	cmd.Flags().IntVar(&limit, "limit", 0, "how many `TOKENS` are allowed")
	return cmd
}
