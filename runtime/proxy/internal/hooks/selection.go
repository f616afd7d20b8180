package hooks

import (
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// selection is the tools that patterns of exposed names select; see [Rule].
type selection []string

// wants reports whether a tool is selected. One that is not known is.
func (s selection) wants(t Target) bool {
	if t.Tool == "" {
		return true
	}
	all := true // nothing is named but what is left out
	for _, p := range s {
		left, out := strings.CutPrefix(p, "!")
		if out && plain.MatchGlob(left, t.Exposed) {
			return false
		}
		all = all && out
	}
	return all || slices.ContainsFunc(s, func(p string) bool { return plain.MatchGlob(p, t.Exposed) })
}
