package finder

import (
	"cmp"

	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Size is what the list of tools of a view costs, in tokens.
type Size struct {
	View string // "" for clients without one
	// Budget is how many tokens it may take; 0 is any number.
	Budget int
	All    int // with the definition of every tool
	Search int // with those that find and call them, and those that are pinned
	// Chosen is the form that a client gets that does not search by itself: all or search.
	Chosen views.Form
}

// Sizes returns what lists cost, that of clients without a view first. Policies are not
// asked: principals may see less.
func (f *Finder) Sizes(names []string) []Size {
	all := make([]Size, 0, len(names)+1)
	for _, view := range append([]string{""}, names...) {
		all = append(all, f.size(view))
	}
	return all
}

// cost returns about how many tokens the list of all tools takes.
func (f *Finder) cost(c *catalog.Catalog, plan *plan) int {
	n := f.catalog.Cost(c)
	if plan.reads() {
		n += tokens.Estimate(f.own(c, plan).ReadDefinition())
	}
	return n
}

func (f *Finder) size(view string) Size {
	c := f.catalog.Whole(view)
	plan := f.plan(c, upstream.Audience{View: view})
	own := f.own(c, &plan).definitions(&plan, true, func() []Server { return stockOf(c).Servers() })
	found := c.Searched(catalog.Found{Own: func() []byte { return own }})
	s := Size{View: view, All: f.cost(c, &plan), Search: f.catalog.Cost(found) + tokens.Estimate(own), Chosen: views.ListAll}
	auto := plan.form == views.ListAuto
	if auto || plan.view != nil && plan.view.Budget() > 0 {
		s.Budget = cmp.Or(plan.budget, DefaultBudget)
	}
	if plan.form == views.ListSearch || auto && s.All > s.Budget {
		s.Chosen = views.ListSearch
	}
	return s
}
