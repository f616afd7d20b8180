package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// foundTools is how many tools mcpctl find shows without --limit.
const foundTools = 10

func newFind(a *app) *cobra.Command {
	var servers []string
	var limit int
	cmd := &cobra.Command{
		Use:   "find WORDS...",
		Short: "Find tools by what they do",
		Long: "Find tools by what they do, in your own words, among the tools of all servers as they were last listed. The best come first;\n" +
			"a tool that WORDS name is the first of all. Each text in quotes is one phrasing. Nothing is started.",
		Example: "  mcpctl find open a ticket\n  mcpctl find 'give the money back' refund --server pay,shop --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if limit < 1 {
				return usagef("--limit is %d, want a number of tools", limit)
			}
			lists, err := storedTools(cmd.Context(), a, servers)
			if err != nil {
				return err
			}
			e, err := find.New(find.Options{Settings: a.settings.Serve.Search, StateDir: config.StateDir(a.getenv), Getenv: a.getenv, Log: a.log})
			if err != nil {
				return err
			}
			defer e.Close()
			if err := find.PrintRanked(a.ui, e.Rank(cmd.Context(), lists.Lists, find.Phrasings(words), limit)); err != nil {
				return err
			}
			e.Warn(a.ui)
			lists.Warn(a.ui)
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringSliceVar(&servers, "server", nil, "search only these `NAMES`, separated by commas")
	cmd.Flags().IntVar(&limit, "limit", foundTools, "show at most `N` tools")
	completeFlag(cmd, "server", a.serverFlag())
	return a.paged(cmd)
}
