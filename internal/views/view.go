package views

import (
	"slices"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// View is one view. It is immutable, and its methods may be called concurrently. Nil shows
// nothing and changes nothing.
type View struct {
	name    string
	c       Config
	shows   [Resource + 1]selection
	clients selection
	tools   map[string]*ToolEdit // by exposed name
	exposed map[string]string    // by the names that overrides give
	rest    *ToolEdit            // of tools without an override, nil for nothing
	pages   bool                 // results of some tool are cut
}

// Name returns the view's name.
func (v *View) Name() string { return v.name }

// Patterns returns the patterns that choose items, with "!" before those that leave out; nil for
// everything.
func (v *View) Patterns(k Kind) []string {
	if v == nil {
		return nil
	}
	return [...][]string{Tool: v.c.Tools, Prompt: v.c.Prompts, Resource: v.c.Resources}[k]
}

// Reads reports whether the view leaves out tools that may change something.
func (v *View) Reads() bool { return v != nil && v.c.Only == ReadOnly }

// Shows reports whether a view has an item of an exposed name, or URI. ReadOnly says that it
// is a tool which changes nothing.
func (v *View) Shows(k Kind, exposed string, readOnly bool) bool {
	return v != nil && (k != Tool || readOnly || v.c.Only != ReadOnly) && v.shows[k].has(exposed)
}

// LeavesOut reports whether a pattern leaves out an item of an exposed name, or URI.
func (v *View) LeavesOut(k Kind, exposed string) bool {
	return v != nil && slices.ContainsFunc(v.shows[k].out, func(pattern string) bool { return plain.MatchGlob(pattern, exposed) })
}

// MayLeaveOut reports whether a pattern could leave out an item whose exposed name, or URI,
// begins so.
func (v *View) MayLeaveOut(k Kind, prefix string) bool {
	return v != nil && slices.ContainsFunc(v.shows[k].out, func(pattern string) bool { return plain.MatchGlobBegin(pattern, prefix) })
}

// WithForms returns the view with another form of each pattern of a kind in addition, as a
// function gives it.
func (v *View) WithForms(k Kind, form func(pattern string) string) *View {
	if v == nil {
		return nil
	}
	out := *v
	out.shows[k] = v.shows[k].also(form)
	return &out
}

// MayShow reports whether a view could have an item whose exposed name, or URI, begins so:
// where a server's items are not known yet. It may be true where no item is shown in the end,
// and is never false where one is.
func (v *View) MayShow(k Kind, prefix string) bool {
	return v != nil && v.shows[k].mayHave(prefix)
}

// Tool returns what is changed of a tool, nil for nothing.
func (v *View) Tool(exposed string) *ToolEdit {
	if v == nil {
		return nil
	}
	if t := v.tools[exposed]; t != nil {
		return t
	}
	return v.rest
}

// Pages reports whether results of some tool can be cut, so that clients have to read on.
func (v *View) Pages() bool { return v != nil && v.pages }

// Exposed returns the exposed name of the tool that a view shows under a name: the name itself,
// unless an override gives it. It is "" for a name that an override has replaced. Whether there
// is such a tool is not said.
func (v *View) Exposed(name string) string {
	if v == nil {
		return name
	}
	if exposed := v.exposed[name]; exposed != "" {
		return exposed
	}
	if v.tools[name].Name(name) != name {
		return ""
	}
	return name
}

// Pins returns the exposed names of the tools that come first, in their order.
func (v *View) Pins() []string {
	if v == nil {
		return nil
	}
	return v.c.Pin
}

// Form returns the form of the list.
func (v *View) Form() Form {
	if v == nil || v.c.List == "" {
		return ListAll
	}
	return v.c.List
}

// Budget returns how many tokens the definitions of tools may take, 0 where that is not said.
func (v *View) Budget() int {
	if v == nil {
		return 0
	}
	return v.c.Budget
}

// Expose returns how many found tools may join the list of a session, 0 for none.
func (v *View) Expose() int {
	if v == nil {
		return 0
	}
	return v.c.Expose
}

// Instructions returns what comes before the instructions of servers, "" for nothing.
func (v *View) Instructions() string {
	if v == nil {
		return ""
	}
	return v.c.Instructions
}
