package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
)

func newGrep(a *app) *cobra.Command {
	var servers []string
	var limit int
	cmd := &cobra.Command{
		Use:   "grep PATTERN",
		Short: "Search the tools of all servers",
		Long: "Search the tools of all servers, as they were last listed: names, titles, descriptions and names of arguments.\n" +
			"PATTERN is a regular expression (RE2); letter case does not count. Nothing is started.",
		Example: "  mcpctl grep issue\n  mcpctl grep '^(read|list)_' --server fs,gh --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			re, err := find.Pattern(words[0])
			if err != nil {
				return usagef("%w", err).withHint("a sign that is meant as itself has a backslash: mcpctl grep %s", shellWord(regexp.QuoteMeta(words[0])))
			}
			if limit < 0 {
				return usagef("--limit is %d, want a number of tools", limit)
			}
			return toolSearch{a, "no tool matches", func(server string, items []json.RawMessage) []find.Hit { return find.Grep(server, items, re) }}.run(cmd.Context(), servers, limit)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringSliceVar(&servers, "server", nil, "search only these `NAMES`, separated by commas")
	cmd.Flags().IntVar(&limit, "limit", 0, "show at most `N` tools (default all)")
	completeFlag(cmd, "server", a.serverFlag())
	return a.paged(cmd)
}

// toolSearch is one search of the stored tools of servers.
type toolSearch struct {
	a *app
	// none says that nothing is found.
	none string
	// search returns what is found in the tools of one server.
	search func(server string, items []json.RawMessage) []find.Hit
}

// run prints what is found with some servers, by default with all that are enabled.
func (t toolSearch) run(ctx context.Context, names []string, limit int) error {
	a := t.a
	lists, err := storedTools(ctx, a, names)
	if err != nil {
		return err
	}
	hits := []find.Hit{}
	for _, l := range lists.Lists {
		hits = append(hits, t.search(l.Server, l.Items)...)
	}
	found := len(hits)
	if limit > 0 && found > limit {
		hits = hits[:limit]
	}
	if err := find.Print(a.ui, hits, hits, t.none); err != nil {
		return err
	}
	if more := found - len(hits); more > 0 {
		a.ui.Info("%d more; --limit %d shows all", more, found)
	}
	lists.Warn(a.ui)
	return nil
}

// storedTools returns the tools of some servers as they were last listed, by default of all
// that are enabled.
func storedTools(ctx context.Context, a *app, names []string) (find.Stored, error) {
	f, err := a.loadConfig()
	if err != nil {
		return find.Stored{}, err
	}
	servers := f.Enabled()
	if len(names) > 0 {
		if servers, err = (&serveFlags{servers: names}).choose(f); err != nil {
			return find.Stored{}, err
		}
	}
	return find.Load(ctx, a.known(), servers), nil
}

// matchTools adds the flag --match to the command tools: it filters the list of one server,
// and the stored tools of several or of all.
func (a *app) matchTools(cmd *cobra.Command) *cobra.Command {
	glob := cmd.Flags().String("match", "", "only tools whose name matches this `GLOB`; without SERVER those of all servers, as last listed")
	all := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if *glob == "" || cmd.Flags().Changed("view") {
			return all(cmd, words)
		}
		name, err := find.Glob(*glob)
		if err != nil {
			return usagef("--match %s: %w", *glob, err)
		}
		if len(words) == 1 || a.adhoc.given() {
			return a.with(cmd.Context(), words, func(s *session, words []string) error {
				if len(words) > 0 {
					return usagef("unexpected argument %q", words[0]).withHint("mcpctl tools --help")
				}
				return printMatching(cmd, s, name, noMatch(*glob))
			})
		}
		return toolSearch{a, noMatch(*glob), func(server string, items []json.RawMessage) []find.Hit {
			hits, _ := find.Named(server, items, name)
			return hits
		}}.run(cmd.Context(), words, 0)
	}
	return cmd
}

// noMatch says that no tool matches a glob. One without wildcards may have been meant as a
// part of the name.
func noMatch(glob string) string {
	if strings.ContainsAny(glob, "*?") {
		return "no tool matches"
	}
	return "no tool has the name " + ui.CleanLine(glob) + " (part of a name: --match " + shellWord("*"+glob+"*") + ")"
}

// printMatching prints the tools of a server whose name matches, or none in text.
func printMatching(cmd *cobra.Command, s *session, name *regexp.Regexp, none string) error {
	_, items, err := s.list(cmd.Context(), revision.MethodToolsList, "tools")
	if err != nil {
		return err
	}
	if _, items = find.Named(s.server, items, name); items == nil {
		items = []json.RawMessage{} // an empty list in JSON
	}
	withSchema, err := cmd.Flags().GetBool("schema")
	switch {
	case err != nil:
		return err
	case s.a.ui.WantJSON():
		return s.a.ui.EncodeTools(items, withSchema)
	case len(items) == 0:
		s.a.ui.Info("%s", none)
		return nil
	}
	return s.a.ui.ShowTools(s.decodeTools(items), withSchema)
}
