package registries

import (
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Installed returns whether a server is among entries: one was made from its record,
// starts its package or reaches its address.
func Installed(entries []config.Entry) func(*registry.Server) bool {
	names, uses := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		if e.Origin != nil {
			names[e.Origin.Name] = true
		}
		for _, word := range append([]string{e.URL}, e.Args...) {
			// A plain word is rather a subcommand, such as run or mcp.
			if strings.ContainsAny(word, "/@-_.") && word[0] != '-' {
				uses[word] = true
				uses[registry.WithoutVersion(word)] = true
			}
		}
	}
	return func(s *registry.Server) bool {
		if names[s.Name] {
			return true
		}
		for _, p := range s.Packages {
			if id := p.Identifier; uses[id] || uses[registry.WithoutVersion(id)] {
				return true
			}
		}
		for _, r := range s.Remotes {
			if uses[r.URL] {
				return true
			}
		}
		return false
	}
}
