package catalog

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// inputs is what the catalogs of views and principals are made of.
type inputs struct {
	full     *Catalog // that of all
	known    []backendOffer
	offers   map[*upstream.Backend]*backendOffer // of known
	former   []tombstone
	set      *policy.Set // nil: no policies count
	snapshot *policy.Snapshot
	views    *views.Set
	pins     *lockfile.Guard
	bare     bool                         // names have no prefix
	warn     func(tool string, why error) // of a tool that a view cannot show
	pages    atomic.Int64                 // bytes of the pages of all these catalogs
	size     atomic.Int64                 // of the catalogs themselves, in bytes, about

	bases atomic.Pointer[map[string]*Catalog] // by view; replaced, never edited
	mu    sync.Mutex                          // held while one is made, which is memory work
}

// backendOffer is what a backend offers, and which items of the snapshot these are.
type backendOffer struct {
	b     *upstream.Backend
	inv   *inventory.Inventory
	first [inventory.Kinds]int
}

// visibility is what is seen of the servers.
type visibility struct {
	inputs   *inputs
	policies *policies    // those that principals see less by; nil for none
	part     *part        // what the view shows, nil for all
	view     *policy.View // what the principal may see, nil for all
}

// whole reports whether all is seen.
func (c *Catalog) whole() bool { return c.visibility.part == nil && c.visibility.view == nil }

// shows reports whether an item that a backend lists is seen.
func (s *visibility) shows(o *backendOffer, k inventory.Kind, i int) bool {
	if s.part != nil && !s.part.shown[o.b][k][i] {
		return false
	}
	if s.view == nil {
		return true
	}
	visible, _ := s.view.Item(o.first[k] + i)
	return visible
}

// inputs returns what other catalogs than the one of all can be made of. The caller holds
// Publisher.mu.
func (p *Publisher) inputs(c *Catalog, former []tombstone) *inputs {
	m := &inputs{full: c, former: former, views: p.views, set: p.o.Gate.Set(), pins: p.o.Pins, bare: p.o.NoPrefix, warn: func(tool string, why error) { p.warnOnce(tool, why) }}
	var items []policy.Item
	for b, inv := range p.known() {
		o := backendOffer{b: b, inv: inv}
		for k := range inventory.Kinds {
			o.first[k] = len(items)
			for i := 0; m.set != nil && i < len(inv.Items[k]); i++ {
				it := &inv.Items[k][i]
				items = append(items, policy.Item{Kind: kindOf(k), Server: b.Name, Name: it.Key, Definition: it.Raw, Pinned: p.o.Pins.Pinned(b.Name, pinned(k), it.Key, it.Raw)})
			}
		}
		m.known = append(m.known, o)
	}
	m.offers = make(map[*upstream.Backend]*backendOffer, len(m.known))
	for i := range m.known {
		m.offers[m.known[i].b] = &m.known[i]
	}
	if m.set == nil {
		return m
	}
	var servers []policy.Server
	for _, b := range p.set.All() {
		config := b.Config()
		servers = append(servers, policy.Server{Name: b.Name, Transport: config.Transport, Labels: strings.Fields(config.Labels), Trusted: config.TrustAnnotations})
	}
	for _, server := range c.removed {
		servers = append(servers, policy.Server{Name: server})
	}
	m.snapshot = m.set.Snapshot(servers, items)
	return m
}

// narrowed makes a catalog of what is seen of another one, and says about how many bytes that
// needs. shows reports whether a server is seen, asked for those of base alone.
func (c *Catalog) narrowed(s visibility, shows func(server string) bool) (out *Catalog, size int) {
	m := s.inputs
	out = &Catalog{
		visibility: s, single: c.single, held: c.held,
		named: map[string]*upstream.Backend{}, owners: NewOwners(), apps: map[*upstream.Backend]bool{},
		names: c.names.Only(shows), pages: pages{of: map[pageKey]*page{}, size: &m.pages, most: maxViewPages},
	}
	for name, b := range c.named {
		if shows(name) {
			out.named[name] = b
		}
	}
	for _, server := range c.removed {
		if shows(server) {
			out.removed = append(out.removed, server)
		}
	}
	out.bareTools = sync.OnceValue(func() map[string]*Route { return out.byBareName(out.formerlySeen(), out.seen()) })
	known := once(out.seen())
	out.claim(known, out.formerlySeen())
	for k := range inventory.Kinds {
		size += out.narrow(c, k, known)
	}
	return out, size
}

// seen returns what is seen of each backend's offer.
func (c *Catalog) seen() iter.Seq2[*upstream.Backend, *inventory.Inventory] {
	return func(yield func(*upstream.Backend, *inventory.Inventory) bool) {
		known := c.visibility.inputs.known
		for i := range known {
			o := &known[i]
			if c.named[o.b.Name] == o.b && !yield(o.b, o.visible(&c.visibility)) {
				return
			}
		}
	}
}

// visible returns an inventory without what is not seen.
func (o *backendOffer) visible(s *visibility) *inventory.Inventory {
	out, cut := *o.inv, false
	for k := range inventory.Kinds {
		all := o.inv.Items[k]
		var left []inventory.Item // nil as long as all are
		for i := range all {
			visible := s.shows(o, k, i)
			if !visible && left == nil {
				left = append(make([]inventory.Item, 0, len(all)), all[:i]...)
			} else if visible && left != nil {
				left = append(left, all[i])
			}
		}
		if left != nil {
			out.Items[k], cut = left, true
		}
	}
	if !cut {
		return o.inv
	}
	return &out
}

// once returns a sequence that makes what it yields once.
func once(seen iter.Seq2[*upstream.Backend, *inventory.Inventory]) iter.Seq2[*upstream.Backend, *inventory.Inventory] {
	var all []backendOffer
	for b, inv := range seen {
		all = append(all, backendOffer{b: b, inv: inv})
	}
	return func(yield func(*upstream.Backend, *inventory.Inventory) bool) {
		for _, o := range all {
			if !yield(o.b, o.inv) {
				return
			}
		}
	}
}

// formerlySeen returns what servers have listed that is seen, and list no more.
func (c *Catalog) formerlySeen() iter.Seq[tombstone] {
	return func(yield func(tombstone) bool) {
		for _, f := range c.visibility.inputs.former {
			visible := c.visibility.part.matches(c.visibility.inputs, f.Kind, f.Server, f.Key)
			if visible && c.visibility.view != nil {
				visible, _ = c.visibility.view.Unlisted(policy.Item{Kind: kindOf(f.Kind), Server: f.Server, Name: f.Key})
			}
			if visible && !yield(f) {
				return
			}
		}
	}
}

// narrow makes a list of that of another catalog, and says about how many bytes that needs.
// known is what is seen of the backends.
func (c *Catalog) narrow(base *Catalog, k inventory.Kind, known iter.Seq2[*upstream.Backend, *inventory.Inventory]) (size int) {
	l, full := &c.lists[k], &base.lists[k]
	var titles map[string]*upstream.Backend // who lists each, once that is asked for
	same := true
	for n, s := range full.sections {
		o := c.visibility.inputs.offers[s.backend]
		entries, changed := make([]*entry, 0, len(s.entries)), false
		for _, e := range s.entries {
			i := e.route.at
			if !c.visibility.shows(o, k, i) {
				changed = true
				continue
			}
			titled := e.titled
			if titled {
				if titles == nil {
					titles = titleOwners(known, k, 0)
				}
				titled = titles[e.item.Title] == nil
			}
			var rules *Rules
			if v := c.visibility.view; v != nil {
				_, use := v.Item(o.first[k] + i)
				deliver, marks := v.Delivery(o.first[k] + i)
				rules = rulesOf(use, deliver, marks)
			}
			if rules != nil || titled != e.titled {
				own := *e
				own.titled, own.route.Rules = titled, rules
				e, changed = &own, true
				size += 256
			}
			if c.visibility.view == nil && c.visibility.part.edits[e.item] != nil {
				e, changed = c.visibility.part.edits[e.item].as(e), true
				size += 512 + len(e.shown().Raw)
			}
			entries = append(entries, e)
		}
		if changed {
			same = false
			s = s.with(entries)
			size += 8 * len(entries)
		}
		if len(s.entries) > 0 {
			l.sections = append(l.sections, s)
			l.count += len(s.entries)
			if n < full.pinned {
				l.pinned++
			}
		}
	}
	if c.visibility.view == nil && k == inventory.Tools {
		l.sections, l.pinned = c.visibility.part.pinnedFirst(l.sections)
	}
	if c.Routes[k] = base.Routes[k]; !same {
		size += c.reroute(base, k)
	}
	var parts []inventory.Freshness
	for _, inv := range known {
		if inv.Offered[k] {
			parts = append(parts, inv.Fresh[k])
		}
	}
	l.fresh = inventory.Merged(parts)
	l.missing = slices.DeleteFunc(slices.Clone(full.missing), func(m inventory.Missing) bool {
		return len(c.named) == 0 || c.named[m.Server] == nil && !m.Foreign
	})
	l.finish()
	return size
}

// reroute makes the routes of a list, and says about how many bytes they need.
func (c *Catalog) reroute(base *Catalog, k inventory.Kind) (size int) {
	routes := make(map[string]*Route, c.lists[k].count)
	for _, s := range c.lists[k].sections {
		for _, e := range s.entries {
			routes[e.exposed] = &e.route
		}
	}
	c.former[k] = map[string]string{}
	for was, current := range base.former[k] {
		if _, taken := routes[was]; !taken && routes[current] != nil {
			routes[was], c.former[k][was] = routes[current], current
		}
	}
	c.Routes[k] = routes
	return 48 * len(routes)
}
