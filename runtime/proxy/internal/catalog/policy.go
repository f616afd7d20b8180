package catalog

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/ownership"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/past"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// What a principal may not see leaves the catalog before a name is looked up in it: each
// view of the policies has a catalog of its own, made of the sections of the one of all.
// So what is hidden is as unknown as what is not there, whatever asks for it. Names and
// URIs are exposed as in the catalog of all.

const (
	// maxWho bounds the principals whose catalog is found without asking the policies,
	// maxViews the catalogs of views, and maxViewBytes what these need together, about.
	// Beyond that all are forgotten, and made again when they are needed.
	maxWho       = 16 << 10
	maxViews     = 1000
	maxViewBytes = 24 << 20
	// maxViewPages bounds the pages that are kept of all views, in bytes.
	maxViewPages = 32 << 20
)

// policies are those that count for a catalog, and the catalogs of their views.
type policies struct {
	set    *policy.Set
	world  *policy.World
	full   *Catalog
	known  []offered
	offers map[*upstream.Backend]*offered // of known
	former []past.Item
	pages  atomic.Int64 // bytes of the pages of all views

	of  sync.Map // the catalog of a *access.Principal
	who atomic.Int64

	mu    sync.Mutex // guards what follows; held while the catalog of a view is made, which is memory work
	views map[*policy.View]*Catalog
	size  int // of the views, in bytes, about
}

// offered is what a backend offers, and which items of the World these are.
type offered struct {
	b     *upstream.Backend
	has   *inventory.Inventory
	first [inventory.Kinds]int
}

// Rules are what policies say of the use of something that its user may see.
type Rules struct {
	// Use are the conditions of using it, Deliver those of what comes of that being
	// delivered; nil for none.
	Use, Deliver *policy.Conditions
	// Marks are the labels that a conversation has after that.
	Marks []string
}

// Static reports whether a request alone says whether it is allowed, and nothing follows
// from it.
func (r *Rules) Static() bool { return !r.Delivers() && (r.Use == nil || r.Use.Static()) }

// Delivers reports whether policies ask for something when a result is delivered.
func (r *Rules) Delivers() bool { return r.Deliver != nil || len(r.Marks) > 0 }

// rulesOf returns rules, nil where there are none.
func rulesOf(use, deliver *policy.Conditions, marks []string) *Rules {
	if use == nil && deliver == nil && len(marks) == 0 {
		return nil
	}
	return &Rules{use, deliver, marks}
}

// bind has a catalog follow the policies that count now. The caller holds Publisher.mu.
func bind(p *Publisher, c *Catalog, former []past.Item) {
	set := p.o.Gate.Set()
	if set == nil {
		return
	}
	ps := &policies{set: set, full: c, views: map[*policy.View]*Catalog{}, former: former}
	var servers []policy.Server
	var items []policy.Item
	for _, b := range p.set.All() {
		config := b.Config()
		servers = append(servers, policy.Server{Name: b.Name, Transport: config.Transport, Labels: strings.Fields(config.Labels), Trusted: config.TrustAnnotations})
	}
	for _, server := range c.removed {
		servers = append(servers, policy.Server{Name: server})
	}
	for b, has := range p.known() {
		o := offered{b: b, has: has}
		for k := range inventory.Kinds {
			o.first[k] = len(items)
			for i := range has.Items[k] {
				it := &has.Items[k][i]
				items = append(items, policy.Item{Kind: kindOf(k), Server: b.Name, Name: it.Key, Definition: it.Raw, Pinned: p.o.Pins.Pinned(b.Name, pinned(k), it.Key, it.Raw)})
			}
		}
		ps.known = append(ps.known, o)
	}
	ps.offers = make(map[*upstream.Backend]*offered, len(ps.known))
	for i := range ps.known {
		ps.offers[ps.known[i].b] = &ps.known[i]
	}
	ps.world = set.World(servers, items)
	c.policies = ps
}

// kindOf returns a kind as policies have it.
func kindOf(k inventory.Kind) policy.Kind {
	return [inventory.Kinds]policy.Kind{policy.Tool, policy.Prompt, policy.Resource, policy.Template}[k]
}

// Of returns the catalog of an audience. Of those who may see
// the same it is the same.
func (p *Publisher) Of(who upstream.Audience) *Catalog { return p.Current.Load().of(who) }

func (c *Catalog) of(who upstream.Audience) *Catalog { return c.as(who.Who) }

// as returns the catalog of a principal.
func (c *Catalog) as(who *access.Principal) *Catalog {
	ps := c.policies
	if ps == nil {
		return c
	}
	if known, ok := ps.of.Load(who); ok {
		return known.(*Catalog) //nolint:forcetypeassert // it has nothing else
	}
	its := ps.under(ps.world.View(who))
	if ps.who.Add(1) > maxWho {
		ps.of.Clear()
		ps.who.Store(1)
	}
	ps.of.Store(who, its)
	return its
}

// under returns the catalog of a view.
func (ps *policies) under(v *policy.View) *Catalog {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if c := ps.views[v]; c != nil {
		return c
	}
	if len(ps.views) >= maxViews || ps.size > maxViewBytes {
		clear(ps.views)
		ps.of.Clear()
		ps.size = 0
		ps.pages.Store(0)
	}
	c, size := viewed(ps, v)
	ps.views[v] = c
	ps.size += size
	return c
}

// viewed makes the catalog of a view, and says about how many bytes it needs.
func viewed(ps *policies, v *policy.View) (c *Catalog, size int) {
	full := ps.full
	servers := map[string]bool{}
	shows := func(server string) bool {
		visible, known := servers[server]
		if !known {
			visible = v.Server(server)
			servers[server] = visible
		}
		return visible
	}
	c = &Catalog{
		view: v, policies: ps, single: full.single, held: full.held,
		named: map[string]*upstream.Backend{}, owners: ownership.New(), apps: map[*upstream.Backend]bool{},
		names: full.names.Only(shows), pages: pages{of: map[pageKey]*page{}, size: &ps.pages, most: maxViewPages},
	}
	for name, b := range full.named {
		if shows(name) {
			c.named[name] = b
		}
	}
	for _, server := range full.removed {
		if shows(server) {
			c.removed = append(c.removed, server)
		}
	}
	c.bareTools = sync.OnceValue(func() map[string]*Route { return c.byBareName(formerlySeen(c), seen(c)) })
	known := once(seen(c))
	c.claim(known, formerlySeen(c))
	for k := range inventory.Kinds {
		size += narrow(c, k, known)
	}
	return c, size
}

// seen returns what of each backend's offer is visible.
func seen(c *Catalog) iter.Seq2[*upstream.Backend, *inventory.Inventory] {
	return func(yield func(*upstream.Backend, *inventory.Inventory) bool) {
		for i := range c.policies.known {
			o := &c.policies.known[i]
			if c.named[o.b.Name] == o.b && !yield(o.b, o.visible(c.view)) {
				return
			}
		}
	}
}

// visible returns an inventory without what a view hides.
func (o *offered) visible(v *policy.View) *inventory.Inventory {
	out, cut := *o.has, false
	for k := range inventory.Kinds {
		all := o.has.Items[k]
		var kept []inventory.Item // nil as long as all are
		for i := range all {
			visible, _ := v.Item(o.first[k] + i)
			if !visible && kept == nil {
				kept = append(make([]inventory.Item, 0, len(all)), all[:i]...)
			} else if visible && kept != nil {
				kept = append(kept, all[i])
			}
		}
		if kept != nil {
			out.Items[k], cut = kept, true
		}
	}
	if !cut {
		return o.has
	}
	return &out
}

// once returns a sequence that makes what it yields once.
func once(seen iter.Seq2[*upstream.Backend, *inventory.Inventory]) iter.Seq2[*upstream.Backend, *inventory.Inventory] {
	var all []offered
	for b, has := range seen {
		all = append(all, offered{b: b, has: has})
	}
	return func(yield func(*upstream.Backend, *inventory.Inventory) bool) {
		for _, o := range all {
			if !yield(o.b, o.has) {
				return
			}
		}
	}
}

// formerlySeen returns what servers have listed that is visible, and list no more.
func formerlySeen(c *Catalog) iter.Seq[past.Item] {
	return func(yield func(past.Item) bool) {
		for _, f := range c.policies.former {
			visible, _ := c.view.Unlisted(policy.Item{Kind: kindOf(f.Kind), Server: f.Server, Name: f.Key})
			if visible && !yield(f) {
				return
			}
		}
	}
}

// narrow makes a list of that of all, and says about how many bytes that needs. known is
// what is visible of the backends.
func narrow(c *Catalog, k inventory.Kind, known iter.Seq2[*upstream.Backend, *inventory.Inventory]) (size int) {
	ps, l := c.policies, &c.lists[k]
	full := &ps.full.lists[k]
	var titles map[string]*upstream.Backend // who lists each, once that is asked for
	same := true
	next := 0
	for i := range ps.known {
		o := &ps.known[i]
		if next == len(full.sections) || full.sections[next].backend != o.b {
			continue
		}
		s := full.sections[next]
		next++
		entries, changed, at := make([]*entry, 0, len(s.entries)), false, 0
		for _, e := range s.entries {
			for &o.has.Items[k][at] != e.item {
				at++
			}
			visible, use := c.view.Item(o.first[k] + at)
			if !visible {
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
			deliver, marks := c.view.Delivery(o.first[k] + at)
			if rules := rulesOf(use, deliver, marks); rules != nil || titled != e.titled {
				own := *e
				own.titled, own.route.Rules = titled, rules
				e, changed = &own, true
				size += 256
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
		}
	}
	if c.Routes[k] = ps.full.Routes[k]; !same {
		size += reroute(c, k)
	}
	var parts []inventory.Freshness
	for _, has := range known {
		if has.Offered[k] {
			parts = append(parts, has.Fresh[k])
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
func reroute(c *Catalog, k inventory.Kind) (size int) {
	routes := make(map[string]*Route, c.lists[k].count)
	for _, s := range c.lists[k].sections {
		for _, e := range s.entries {
			routes[e.exposed] = &e.route
		}
	}
	for was, is := range c.policies.full.former[k] {
		if r := routes[is]; r != nil {
			routes[was] = r
		}
	}
	c.Routes[k] = routes
	return 48 * len(routes)
}

// shows reports whether a server is visible.
func (c *Catalog) shows(b *upstream.Backend) bool { return c.view == nil || c.named[b.Name] != nil }

// knows reports whether a server is visible that is configured, or was.
func (c *Catalog) knows(server string) bool {
	return c.view == nil || c.named[server] != nil || slices.Contains(c.removed, server)
}

// visible returns the servers that a principal may see.
func visible(p *Publisher, who upstream.Audience) []*upstream.Backend {
	all, c := p.set.All(), p.Of(who)
	if c.view == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(b *upstream.Backend) bool { return !c.shows(b) })
}

// unlisted returns a route that is in no list as this catalog has it, nil where it is
// hidden. A server may list the same under another name: then that counts.
func (c *Catalog) unlisted(r *Route, k inventory.Kind) *Route {
	if c.view == nil || r.Definition != nil {
		return r
	}
	out := *r
	if k == inventory.Templates && c.policies.full.listed(k, r.Backend, r.Bare) == nil {
		k = inventory.Resources // which it may be as well, and those are looked at more closely
	}
	if c.policies.full.listed(k, r.Backend, r.Bare) != nil {
		its := c.listed(k, r.Backend, r.Bare)
		if its == nil {
			return nil
		}
		out.Rules = its.Rules
		return &out
	}
	it := policy.Item{Kind: kindOf(k), Server: r.Backend.Name, Name: r.Bare}
	visible, use := c.view.Unlisted(it)
	if !visible {
		return nil
	}
	deliver, marks := c.view.UnlistedDelivery(it)
	out.Rules = rulesOf(use, deliver, marks)
	return &out
}

// Tool returns the route of a tool by its server's name, nil for one that is not known, and
// whether a principal may see it. Of one that is not known the server alone counts.
func Tool(p *Publisher, who upstream.Audience, b *upstream.Backend, bare string) (r *Route, visible bool) {
	c := p.Of(who)
	if bare == "" || c.view == nil {
		return nil, c.shows(b)
	}
	r = c.unlisted(routeTo(b, bare, false), inventory.Tools)
	return r, r != nil
}

// Shows reports whether a principal may see a resource of a server, by the server's URI.
func Shows(p *Publisher, who upstream.Audience, b *upstream.Backend, uri string) bool {
	c := p.Of(who)
	return c.view == nil || c.unlisted(routeTo(b, uri, false), inventory.Resources) != nil
}

// On returns whether a principal may do something with a server, and the conditions.
func On(p *Publisher, who upstream.Audience, action policy.Action, server string) (possible bool, c *policy.Conditions) {
	if its := p.Of(who); its.view != nil {
		return its.view.On(action, server)
	}
	return true, nil
}

// Policies returns what stands for the policies that count, "" without any, how many views
// of them are kept and how many principals have one.
func Policies(p *Publisher) (digest string, views, principals int) {
	ps := p.Current.Load().policies
	if ps == nil {
		return "", 0, 0
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.set.Digest(), len(ps.views), int(ps.who.Load())
}

// Repolicy replaces the catalog by one under the policies that count now. The catalogs of
// the principals that were there last are made before, so that nobody waits for them.
func Repolicy(p *Publisher) {
	for again := true; ; again = false {
		p.mu.Lock()
		before, after := p.Current.Load(), newCatalog(p)
		if !again || before.policies == nil || after.policies == nil {
			p.Current.Store(after)
			p.Listeners.announce(before, after, nil)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		before.policies.of.Range(func(who, _ any) bool {
			after.as(who.(*access.Principal)) //nolint:forcetypeassert // see of
			return true
		})
		p.mu.Lock()
		done := p.Current.Load() == before && p.o.Gate.Set() == after.policies.set
		if done {
			p.Current.Store(after)
			p.Listeners.announce(before, after, nil)
		}
		p.mu.Unlock()
		if done {
			return
		}
	}
}
