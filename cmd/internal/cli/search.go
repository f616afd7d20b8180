package cli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/plain"
)

type searchFlags struct {
	limit int
	kind  string
	pre   bool
}

// searchTypes returns the values of --type.
func searchTypes() []string { return []string{"npm", "pypi", "oci", "nuget", "cargo", "remote"} }

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
	f.StringVar(&o.kind, "type", "", "only servers of this `TYPE`: "+strings.Join(searchTypes(), ", "))
	f.BoolVar(&o.pre, "pre", false, "also show prereleases of servers that have a release")
	completeWords(cmd, "type", searchTypes()...)
	return cmd
}

// searchCommand is one run of mcpctl search.
type searchCommand struct {
	*app
	o searchFlags
}

// searchHit is one server of the result.
type searchHit struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Version     string          `json:"version"`
	Status      registry.Status `json:"status"`
	Packages    []string        `json:"packages"`
	Remotes     []string        `json:"remotes"`
	Installed   bool            `json:"installed"`
}

func (c *searchCommand) run(ctx context.Context, words []string) error {
	if c.o.limit < 1 {
		return usagef("--limit %d: want 1 or more", c.o.limit)
	}
	if c.o.kind != "" && !slices.Contains(searchTypes(), c.o.kind) {
		return usagef("--type %s: want %s", c.o.kind, orList(searchTypes()))
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
		if c.o.kind == "remote" {
			return len(r.Server.Remotes) == 0
		}
		return c.o.kind != "" && !slices.Contains(packageTypes(&r.Server), c.o.kind)
	})
	total := len(recs)
	recs = recs[:min(total, c.o.limit)]
	if !c.o.pre {
		c.preferReleases(ctx, client, recs)
	}
	installed := c.installed()
	hits := make([]searchHit, 0, len(recs))
	for _, r := range recs {
		hits = append(hits, searchHit{
			r.Server.Name, r.Server.Title, r.Server.Description, r.Server.Version, r.Meta.Status,
			packageTypes(&r.Server), remoteTypes(&r.Server), installed[r.Server.Name],
		})
	}
	if err := c.printHits(hits, recs); err != nil {
		return err
	}
	c.noteTruncation(list, len(hits), total)
	return nil
}

func (c *searchCommand) printHits(hits []searchHit, recs []registry.Record) error {
	if c.ui.WantJSON() {
		return c.ui.EncodeJSON(map[string]any{"servers": hits})
	}
	if len(hits) == 0 {
		return nil
	}
	rows := make([][]string, len(hits))
	for i, h := range hits {
		about := h.Description
		if h.Title != "" && !strings.EqualFold(h.Title, h.Name) {
			about = strings.TrimSuffix(h.Title+": "+about, ": ")
		}
		status := string(h.Status)
		if h.Status == registry.Active {
			status = ""
		}
		if h.Installed {
			status = strings.TrimPrefix(status+", installed", ", ")
		}
		rows[i] = []string{h.Name, h.Version, typesOf(&recs[i].Server), status, about}
	}
	return c.ui.NameTable([]string{"NAME", "VERSION", "TYPES", "STATUS", "TITLE"}, rows)
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

// releaseLookups bounds the requests for releases beside a prerelease.
const releaseLookups = 8

// preferReleases replaces prereleases by the release that add would take. If that is
// unknown the record stays.
func (c *searchCommand) preferReleases(ctx context.Context, client *registry.Client, recs []registry.Record) {
	var wg sync.WaitGroup
	asked := 0
	for i := range recs {
		if !registry.IsPrerelease(recs[i].Server.Version) || asked == releaseLookups {
			continue
		}
		asked++
		wg.Go(func() {
			rec, err := client.Release(ctx, recs[i])
			if err != nil {
				c.log.Debug("release not found", "server", recs[i].Server.Name, "err", err)
				return
			}
			recs[i] = rec
		})
	}
	wg.Wait()
}
