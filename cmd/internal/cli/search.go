package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/plain"
)

type searchFlags struct {
	limit int
	kind  string
	pre   bool
}

func newSearch(a *app) *cobra.Command {
	var o searchFlags
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Search the registry for servers",
		Long: "Search the registry for servers whose name, title or description contains all words.\n" +
			"At least one word must be part of the name.",
		Example: "  mcpctl search github issues\n  mcpctl search postgres --type oci --json",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return (&searchCommand{a, o}).run(cmd.Context(), args) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.limit, "limit", 20, "show at most `N` servers")
	f.StringVar(&o.kind, "type", "", "only servers of this `TYPE`: "+strings.Join(records.Types(), ", "))
	f.BoolVar(&o.pre, "pre", false, "also show prereleases of servers that have a release")
	completeWords(cmd, "type", records.Types()...)
	return cmd
}

// searchCommand is one run of mcpctl search.
type searchCommand struct {
	*app
	o searchFlags
}

func (c *searchCommand) run(ctx context.Context, words []string) error {
	if c.o.limit < 1 {
		return usagef("--limit %d: want 1 or more", c.o.limit)
	}
	if c.o.kind != "" && !slices.Contains(records.Types(), c.o.kind) {
		return usagef("--type %s: want %s", c.o.kind, plain.Or(records.Types()))
	}
	client, err := c.registry()
	if err != nil {
		return err
	}
	list, err := client.Search(ctx, strings.Join(words, " "))
	if err != nil {
		return err
	}
	recs := slices.DeleteFunc(list.Records, func(r registry.Record) bool {
		return !records.HasType(&r.Server, c.o.kind)
	})
	total := len(recs)
	recs = recs[:min(total, c.o.limit)]
	if !c.o.pre {
		records.PreferReleases(ctx, client, recs, func(server string, err error) {
			c.log.Debug("release not found", "server", server, "err", err)
		})
	}
	if err := c.printHits(records.Hits(recs, c.installed())); err != nil {
		return err
	}
	c.noteTruncation(list, len(recs), total)
	return nil
}

func (c *searchCommand) printHits(hits []records.Hit) error {
	switch {
	case c.ui.WantJSON():
		return c.ui.EncodeJSON(map[string]any{"servers": hits})
	case len(hits) == 0:
		return nil
	}
	return c.ui.NameTable(records.Rows(hits))
}

// noteTruncation notes what the result does not show.
func (c *searchCommand) noteTruncation(list *registry.List, shown, total int) {
	switch {
	case total == 0:
		c.ui.Note("nothing found; at least one word must be part of a server's name")
	case shown < total:
		c.ui.Note("%d of %s shown; --limit %d shows all", shown, plain.Count(total, "server"), total)
	}
	if list.Truncated {
		c.ui.Note("the registry has more answers than were read; more words narrow them down")
	}
	if list.Skipped > 0 {
		c.ui.Note("%d of the registry's items could not be read", list.Skipped)
	}
}
