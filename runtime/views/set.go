package views

import (
	"slices"
	"strings"
)

// Error names the place and what is wrong.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.View != "" {
		b.WriteString("view " + p.View + ": ")
	}
	if len(p.Path) > 0 {
		b.WriteString(strings.Join(p.Path, ".") + ": ")
	}
	return b.String() + p.Text
}

// Hint returns what mends it.
func (p *Problem) Hint() string { return p.Remedy }

// Set is all views of a configuration. It is immutable and may be used concurrently; nil
// has no views.
type Set struct {
	views    map[string]*View
	order    []*View // in the order in which they are chosen
	fallback string
	asks     bool // some view is for groups or clients
}

// New returns the views of a configuration. Fallback is the view of clients that nothing else
// decides for, "" for everything. The error is a [*Problem]. Without views the set is nil.
func New(all map[string]Config, fallback string) (*Set, error) {
	if len(all) == 0 && fallback == "" {
		return nil, nil
	}
	s := &Set{views: map[string]*View{}, fallback: fallback}
	return s, nil
}

// Choice is the view of a client.
type Choice struct {
	// View is its name, "" for everything.
	View string
	// Private says that who asks has decided, or could have, and not the address alone: what
	// is listed must not be cached for others.
	Private bool
}

// Choose returns the view of a client: that of its address, which is "" for none; else the
// first that is for one of its groups; else the first that is for its name; else the one that
// is configured for all others. In may be nil. Known is false where the address has a name
// that no view has.
func (s *Set) Choose(address string, in func(group string) bool, client string) (c Choice, known bool) {
	if address != "" {
		return Choice{View: address}, s.View(address) != nil
	}
	if s == nil {
		return Choice{}, true
	}
	return Choice{View: s.fallback, Private: s.asks}, true
}

// View returns a view by its name, nil for one that is not there. Nil shows nothing.
func (s *Set) View(name string) *View {
	if s == nil {
		return nil
	}
	return s.views[name]
}

// Names returns the names of all views, sorted.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	names := make([]string, 0, len(s.views))
	for name := range s.views {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// View is one view. It is immutable, and its methods may be called concurrently. Nil shows
// nothing and changes nothing.
type View struct {
	name  string
	c     Config
	tools map[string]*ToolEdit
}

// Name returns the view's name.
func (v *View) Name() string { return v.name }

// Shows reports whether a view has an item of an exposed name, or URI. ReadOnly says that it
// is a tool which changes nothing.
func (v *View) Shows(k Kind, exposed string, readOnly bool) bool { return v != nil }

// MayShow reports whether a view could have an item whose exposed name, or URI, begins so:
// where a server's items are not known yet. It is true rather than wrong.
func (v *View) MayShow(k Kind, prefix string) bool { return v != nil }

// Tool returns what is changed of a tool, nil for nothing.
func (v *View) Tool(exposed string) *ToolEdit {
	if v == nil {
		return nil
	}
	return v.tools[exposed]
}

// Exposed returns the exposed name of the tool that a view shows under a name, which is the
// name itself unless an override gives it. False says that no tool can have that name: its own
// is another.
func (v *View) Exposed(name string) (exposed string, ok bool) { return name, true }

// Pins returns the exposed names of the tools that come first.
func (v *View) Pins() []string { return v.c.Pin }

// Form returns the form of the list.
func (v *View) Form() Form { return v.c.List }

// Budget returns how many tokens the definitions of tools may take, 0 for no bound.
func (v *View) Budget() int { return v.c.Budget }

// Expose returns how many found tools may join the list of a session.
func (v *View) Expose() int { return v.c.Expose }

// Instructions returns what comes before the instructions of servers, "" for nothing.
func (v *View) Instructions() string { return v.c.Instructions }

// Result returns what is done to the results of a tool, nil for nothing.
func (v *View) Result(exposed string) *Result { return v.c.Results }
