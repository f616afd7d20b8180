package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/registries"
	"github.com/mcpctl/mcpctl/internal/plain"
)

func newSearch(a *app) *cobra.Command {
	var o registries.Search
	cmd := &cobra.Command{
		Use:   "search [WORDS...]",
		Short: "Search the registry for servers",
		Long: "Search the registry for servers by words of their names, titles and descriptions, best match first.\n\n" +
			"mcpctl keeps a copy of the registry and searches that. It asks the registry for changes once an hour, for 3 seconds at\n" +
			"most. A small registry is copied by the first search; a large one by --refresh. Until then the registry's own\n" +
			"search is used, which knows only names. Without WORDS, --refresh only brings the copy up to date.",
		Example: "  mcpctl search github issues\n  mcpctl search postgres --type oci --json\n  mcpctl search --refresh",
		RunE: func(cmd *cobra.Command, words []string) error {
			switch o.Words = strings.TrimSpace(strings.Join(words, " ")); {
			case o.Words == "" && !o.Refresh:
				return usagef("missing argument").withHint("usage: %s", cmd.UseLine())
			case o.Limit < 1:
				return usagef("--limit %d: want 1 or more", o.Limit)
			case o.Type != "" && !slices.Contains(adding.Types(), o.Type):
				return usagef("--type %s: want %s", o.Type, plain.JoinOr(adding.Types()))
			}
			return registryCommands{a}.search(cmd.Context(), o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.Limit, "limit", 20, "show at most `N` servers")
	f.StringVar(&o.Type, "type", "", "only servers of this `TYPE`: "+strings.Join(adding.Types(), ", "))
	f.BoolVar(&o.Pre, "pre", false, "also show prereleases of servers that have a release")
	f.BoolVar(&o.Refresh, "refresh", false, "bring the copy of the registry up to date first, however long it takes")
	completeWords(cmd, "type", adding.Types()...)
	return a.paged(cmd)
}

// searchResult is the JSON of search.
type searchResult struct {
	Servers    []adding.Hit `json:"servers"`
	Registries []searched   `json:"registries"`
}

// searched is how one registry was searched, in the form of --json.
type searched struct {
	URL   string     `json:"url"`
	AsOf  *time.Time `json:"asOf,omitempty"`
	Error string     `json:"error,omitempty"`
}

func (a registryCommands) search(ctx context.Context, o registries.Search) error {
	found, err := a.registries().Search(ctx, o)
	if err != nil {
		return err
	}
	installed := a.installed()
	hits := []adding.Hit{}
	for i := range found.Hits {
		h := &found.Hits[i]
		hits = append(hits, adding.NewHit(&h.Record, h.Registry, installed(&h.Record.Server)))
	}
	if err := a.printHits(hits, found.Parts); err != nil {
		return err
	}
	for _, note := range found.Notes() {
		a.ui.Info("%s", note)
	}
	if o.Words != "" {
		a.noteTruncation(found)
	}
	return nil
}

func (a registryCommands) printHits(hits []adding.Hit, parts []registries.Part) error {
	switch {
	case a.ui.WantJSON():
		from := make([]searched, len(parts))
		for i, p := range parts {
			from[i].URL = p.URL
			if !p.AsOf.IsZero() {
				at := p.AsOf.UTC().Truncate(time.Second)
				from[i].AsOf = &at
			}
			if p.Err != nil {
				from[i].Error = p.Err.Error()
			}
		}
		return a.ui.EncodeJSON(searchResult{hits, from})
	case len(hits) == 0:
		return nil
	}
	return a.ui.NameTable(adding.Rows(hits, len(parts) > 1))
}

// noteTruncation notes what the result does not show.
func (a registryCommands) noteTruncation(found *registries.Found) {
	switch shown := len(found.Hits); {
	case shown == 0 && found.Live():
		a.ui.Info("nothing found; at least one word must be part of a server's name")
	case shown == 0:
		a.ui.Info("nothing found")
	case found.More:
		a.ui.Info("%d of more than %s shown, the best ones; --limit shows more", shown, plain.Count(found.Total, "server"))
	case shown < found.Total:
		a.ui.Info("%d of %s shown; --limit %d shows all", shown, plain.Count(found.Total, "server"), found.Total)
	}
	for _, p := range found.Parts {
		if n := p.Skipped(); n > 0 {
			a.ui.Info("%d of the registry's items could not be read", n)
		}
	}
}
