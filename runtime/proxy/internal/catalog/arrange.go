package catalog

import (
	"iter"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Item is a tool of a catalog.
type Item struct {
	Name    string // as clients see it
	Route   *Route
	section *Section
	entry   *entry
}

// Tools returns the tools of a catalog in the order of the list.
func (c *Catalog) Tools() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for _, s := range c.lists[inventory.Tools].sections {
			for _, e := range s.entries {
				if !yield(Item{e.exposed, &e.route, s, e}) {
					return
				}
			}
		}
	}
}

// Definition returns a tool as clients of an era are listed it.
func (t Item) Definition(p *Publisher, modern bool) []byte {
	c := conversionOf(inventory.Tools, modern)
	return t.section.appendEntries(nil, p, &c, []*entry{t.entry})
}

// Raw returns the tool's definition as its server sent it, or as the view has it: its name may be another.
func (t Item) Raw() []byte { return t.entry.shown().Raw }

// Cost returns about how many tokens the list of tools of a catalog is.
func (p *Publisher) Cost(c *Catalog) (sum int) {
	conversion := conversionOf(inventory.Tools, false)
	for _, s := range c.lists[inventory.Tools].sections {
		s.costOnce.Do(func() { s.cost = tokens.Estimate(s.appendEntries(nil, p, &conversion, s.entries)) })
		sum += s.cost
	}
	return sum
}

// View returns the view whose catalog it is, nil for that of all.
func (c *Catalog) View() *views.View {
	if c.visibility.part == nil {
		return nil
	}
	return c.visibility.part.configured
}

// MarkSeen notes that an audience is shown all tools of a catalog.
func (p *Publisher) MarkSeen(audience upstream.Audience, c *Catalog) {
	p.seen.add(audience, c, inventory.Tools)
}

// Attached returns what made has made of a catalog, which it does once.
func (c *Catalog) Attached(made func() any) any {
	c.pages.attach.Do(func() { c.pages.what = made() })
	return c.pages.what
}

// Found is a list of tools in the place of that of all: those that are pinned, those that
// were found, and at the end definitions of tools that are no server's, with commas between
// them. Names lead where they did.
type Found struct {
	All   bool // the others stay, too
	Names []string
	Own   func() []byte
}

// Searched returns a catalog whose list of tools is to be searched. Where nothing was found
// it is made once.
func (c *Catalog) Searched(f Found) *Catalog {
	if len(f.Names) > 0 {
		return c.searched(f)
	}
	c.pages.mu.Lock()
	defer c.pages.mu.Unlock()
	own := &c.pages.searched
	if f.All {
		own = &c.pages.extended
	}
	if *own == nil {
		*own = c.searched(f)
	}
	return *own
}

func (c *Catalog) searched(f Found) *Catalog {
	out := &Catalog{pages: pages{of: map[pageKey]*page{}, size: c.pages.size, most: c.pages.most}}
	from, l := &c.lists[inventory.Tools], &out.lists[inventory.Tools]
	l.fresh, l.missing, l.own = from.fresh, from.missing, f.Own()
	l.count, l.pinned = 1, from.pinned
	keep := func(which func(*entry) bool) {
		for _, s := range from.sections {
			var left []*entry
			for _, e := range s.entries {
				if which(e) {
					left = append(left, e)
				}
			}
			if len(left) > 0 {
				l.sections = append(l.sections, s.with(left))
				l.count += len(left)
			}
		}
	}
	pinned := func(e *entry) bool {
		return c.visibility.part != nil && slices.Contains(c.visibility.part.pins, e.item)
	}
	keep(func(e *entry) bool { return f.All || pinned(e) })
	for _, name := range f.Names {
		keep(func(e *entry) bool { return e.exposed == name && !pinned(e) })
	}
	l.finish()
	return out
}

// conversionOf returns how the items of a list are written for an era.
func conversionOf(k inventory.Kind, modern bool) revision.Conversion {
	to := revision.Latest
	if modern {
		to = revision.Modern
	}
	return revision.Conversion{To: to, Method: k.Listing().Method}
}

// ReadOnly reports whether policies take a tool for one that changes nothing.
func (p *Publisher) ReadOnly(r *Route) bool {
	trusted := r.Backend.Config().TrustAnnotations || p.o.Pins.Pinned(r.Backend.Name, lockfile.Tools, r.Bare, r.Definition)
	return r.Definition != nil && policy.ReadOnly(r.Definition, trusted)
}

// Unknown returns the servers that an audience may see and of which nothing is known.
func (p *Publisher) Unknown(audience upstream.Audience) (names []string) {
	for _, b := range p.visible(audience) {
		if p.Inventory(b) == nil {
			names = append(names, b.Name)
		}
	}
	return names
}

// Offers returns what each server offers that has said so, of which nothing is held back.
func (p *Publisher) Offers() map[string]*inventory.Inventory {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]*inventory.Inventory{}
	for b, inv := range p.known() {
		all[b.Name] = inv
	}
	return all
}

// Grace returns how long a list waits for servers; see Options.
func (p *Publisher) Grace() time.Duration { return p.o.ListGrace }
