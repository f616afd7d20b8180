package records

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/registry"
)

// Types returns the types by which a search can be narrowed.
func Types() []string { return []string{"npm", "pypi", "oci", "nuget", "cargo", "remote"} }

// HasType reports whether a server has one of the types, or "".
func HasType(s *registry.Server, kind string) bool {
	if kind == "remote" {
		return len(s.Remotes) > 0
	}
	return kind == "" || slices.Contains(packageTypes(s), kind)
}

// Hit is one server that a search found.
type Hit struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Version     string          `json:"version"`
	Status      registry.Status `json:"status"`
	Packages    []string        `json:"packages"`
	Remotes     []string        `json:"remotes"`
	Installed   bool            `json:"installed"`

	types string // for people
}

// Hits returns the records as the result of a search.
func Hits(recs []registry.Record, installed map[string]bool) []Hit {
	hits := make([]Hit, len(recs))
	for i := range recs {
		s := &recs[i].Server
		hits[i] = Hit{
			s.Name, s.Title, s.Description, s.Version, recs[i].Meta.Status,
			packageTypes(s), remoteTypes(s), installed[s.Name], typesOf(s),
		}
	}
	return hits
}

// Rows returns the table of a search, its headers first.
func Rows(hits []Hit) (headers []string, rows [][]string) {
	for _, h := range hits {
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
		rows = append(rows, []string{h.Name, h.Version, h.types, status, about})
	}
	return []string{"NAME", "VERSION", "TYPES", "STATUS", "TITLE"}, rows
}

// releaseLookups bounds the requests for releases beside a prerelease.
const releaseLookups = 8

// PreferReleases replaces prereleases by the release that add would take. If that is
// unknown the record stays.
func PreferReleases(ctx context.Context, client *registry.Client, recs []registry.Record, unknown func(server string, err error)) {
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
				unknown(recs[i].Server.Name, err)
				return
			}
			recs[i] = rec
		})
	}
	wg.Wait()
}
