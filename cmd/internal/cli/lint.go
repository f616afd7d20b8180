package cli

import (
	"github.com/spf13/cobra"
)

func newLint(a *app) *cobra.Command {
	strict := false
	cmd := &cobra.Command{
		Use: "lint FILE", Short: "Check a server.json before it is published",
		Long: "Check a draft of a server.json for its author. mcpctl looks at what a registry refuses, and at what add would make of\n" +
			"each package and remote: what it refuses, warns of, ignores or reads in another way. Each finding has a line, a column,\n" +
			"a rule and what to write instead. FILE may be - for standard input. No network is used.\n\n" +
			"The exit code is 1 if there are errors, with --strict also if there are warnings.",
		Example:           "  mcpctl lint server.json\n  mcpctl lint - --json <server.json",
		Args:              cobra.ExactArgs(1),
		RunE:              func(_ *cobra.Command, args []string) error { return runLint(a.ui, args[0], strict) },
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are errors")
	return cmd
}
