package views

import (
	"cmp"
	"maps"
	"slices"
)

// Set is all views of a configuration. It is immutable and may be used concurrently; nil
// has no views.
type Set struct {
	views    map[string]*View
	order    []*View // in which one is looked for
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
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, err := newView(name, all[name])
		if err != nil {
			return nil, err
		}
		s.views[name], s.order = v, append(s.order, v)
	}
	slices.SortStableFunc(s.order, func(a, b *View) int { return cmp.Compare(a.c.Order, b.c.Order) })
	of := map[string]string{} // views by group
	for _, v := range s.order {
		s.asks = s.asks || len(v.c.Groups)+len(v.c.Clients) > 0
		for _, group := range v.c.Groups {
			if other := of[group]; other != "" {
				return nil, v.problem("group "+quote(group)+" has view "+other+" already", "name a group in one view", "groups")
			}
			of[group] = v.name
		}
	}
	if fallback != "" && s.views[fallback] == nil {
		return nil, &Problem{Path: []string{"view"}, Text: "there is no view " + quote(fallback), Remedy: namesOf(s.Names())}
	}
	return s, nil
}

// Choice is the view of a client.
type Choice struct {
	// View is its name, "" for everything.
	View string
	// Private says that who asks has decided, or could have, and not the address alone: what
	// is listed must not be kept for others.
	Private bool
}

// Choose returns the view of a client: that of its address, which is "" for none; else the
// first that is for one of its groups; else the first that is for its name; else the one that
// is configured for all others. In may be nil. Known is false where the address has a name
// that no view has: the choice is then a view that shows nothing.
func (s *Set) Choose(address string, in func(group string) bool, client string) (c Choice, known bool) {
	switch {
	case address != "":
		return Choice{View: address}, s.View(address) != nil
	case s == nil:
		return Choice{}, true
	}
	c = Choice{View: s.fallback, Private: s.asks}
	if !s.asks {
		return c, true
	}
	if in != nil {
		for _, v := range s.order {
			if slices.ContainsFunc(v.c.Groups, in) {
				c.View = v.name
				return c, true
			}
		}
	}
	for _, v := range s.order {
		if v.clients.has(client) {
			c.View = v.name
			break
		}
	}
	return c, true
}

// View returns a view by its name, nil for one that is not there, and for "". Nil shows
// nothing.
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
	return slices.Sorted(maps.Keys(s.views))
}

// Fallback returns the view of clients that nothing else decides for, "" for everything.
func (s *Set) Fallback() string {
	if s == nil {
		return ""
	}
	return s.fallback
}
