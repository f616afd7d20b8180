package cli

import (
	"github.com/spf13/cobra"
)

func newLint(a *app) *cobra.Command {
	strict := false
	cmd := &cobra.Command{
		Use: "lint FILE", Short: Short, Long: lintLong, Example: lintExample,
		Args:              cobra.ExactArgs(1),
		RunE:              func(_ *cobra.Command, args []string) error { return runLint(a.ui, args[0], strict) },
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are errors")
	return cmd
}
