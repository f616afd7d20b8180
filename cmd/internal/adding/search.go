package adding

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

// Types returns the types by which a search can be narrowed.
func Types() []string { return []string{"npm", "pypi", "oci", "nuget", "cargo", "mcpb", "remote"} }

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
	Registry    string          `json:"registry"`

	types string // for people
}

// NewHit returns a record as the result of a search.
func NewHit(r *registry.Record, registryURL string, installed bool) Hit {
	s := &r.Server
	return Hit{s.Name, s.Title, s.Description, s.Version, r.Meta.Status, packageTypes(s), remoteTypes(s), installed, registryURL, typesOf(s)}
}

// Rows returns the table of a search, its headers first. With several registries it has
// them, too.
func Rows(hits []Hit, several bool) (headers []string, rows [][]string) {
	headers = []string{"NAME", "VERSION", "TYPES", "STATUS", "TITLE"}
	if several {
		headers = append(headers, "REGISTRY")
	}
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
		row := []string{h.Name, h.Version, h.types, status, about}
		if several {
			row = append(row, h.Registry)
		}
		rows = append(rows, row)
	}
	return headers, rows
}
