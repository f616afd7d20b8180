package config

import (
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// ToolFilter says which tools of a server there are, by their names as the server lists
// them. A pattern may have stars, each for any text. The zero value shows all.
type ToolFilter struct {
	// Allow are patterns of the tools that there are, nil for all. An empty list is none.
	Allow []string `json:"allow,omitzero"`
	// Deny are patterns of those that there are not, whatever Allow says.
	Deny []string `json:"deny,omitempty"`
}

// IsZero reports whether the filter shows all tools.
func (f ToolFilter) IsZero() bool { return f.Allow == nil && len(f.Deny) == 0 }

// Shows reports whether there is a tool of this name.
func (f ToolFilter) Shows(name string) bool {
	matches := func(pattern string) bool { return plain.MatchGlob(pattern, name) }
	return (f.Allow == nil || slices.ContainsFunc(f.Allow, matches)) && !slices.ContainsFunc(f.Deny, matches)
}

// toolFilter decodes the object of "tools".
func (d *decoder) toolFilter(e *Entry, at string, obj *hujson.Object) {
	for _, m := range obj.Members {
		name := jsonedit.Name(&m)
		switch name {
		case "allow":
			texts(func(e *Entry) *[]string { return &e.ToolFilter.Allow })(d, e, at+".allow", m.Value)
		case "deny":
			texts(func(e *Entry) *[]string { return &e.ToolFilter.Deny })(d, e, at+".deny", m.Value)
		default: // a word that is mistyped would show what it is to hide
			d.fault(m.Name.StartOffset, at+": unknown key "+name, "use allow and deny")
		}
	}
}

// isFilter reports whether a value of "tools" is the object of a filter.
func isFilter(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
