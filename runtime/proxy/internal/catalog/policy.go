package catalog

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
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

// policies are those that count for a catalog, and the catalogs of what principals see of it.
type policies struct {
	inputs *inputs
	base   *Catalog

	of         sync.Map // the catalog of a *access.Principal
	principals atomic.Int64

	mu    sync.Mutex // guards what follows; held while a catalog is made, which is memory work
	views map[*policy.View]*Catalog
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

// kindOf returns a kind as policies have it.
func kindOf(k inventory.Kind) policy.Kind {
	return [inventory.Kinds]policy.Kind{policy.Tool, policy.Prompt, policy.Resource, policy.Template}[k]
}

// Of returns the catalog of an audience. Of those who may see the same it is the same.
func (p *Publisher) Of(audience upstream.Audience) *Catalog { return p.Current.Load().of(audience) }

// Whole returns the catalog of a view, of everything for "", whatever policies say.
func (p *Publisher) Whole(view string) *Catalog { return p.Current.Load().inView(view) }

func (c *Catalog) of(audience upstream.Audience) *Catalog {
	return c.inView(audience.View).as(audience.Who)
}

func (c *Catalog) inView(view string) *Catalog {
	if view != "" {
		return c.visibility.inputs.in(view)
	}
	return c
}

// as returns the catalog of a principal.
func (c *Catalog) as(principal *access.Principal) *Catalog {
	ps := c.visibility.policies
	if ps == nil {
		return c
	}
	if known, ok := ps.of.Load(principal); ok {
		return known.(*Catalog) //nolint:forcetypeassert // it has nothing else
	}
	its := ps.under(ps.inputs.snapshot.View(principal))
	if ps.principals.Add(1) > maxWho {
		ps.of.Clear()
		ps.principals.Store(1)
	}
	ps.of.Store(principal, its)
	return its
}

// under returns the catalog of what a principal sees.
func (ps *policies) under(v *policy.View) *Catalog {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if c := ps.views[v]; c != nil {
		return c
	}
	m := ps.inputs
	if len(ps.views) >= maxViews || m.size.Load() > maxViewBytes {
		clear(ps.views)
		ps.of.Clear()
		m.bases.Store(nil)
		m.size.Store(0)
		m.pages.Store(0)
	}
	servers := map[string]bool{}
	c, size := ps.base.narrowed(visibility{inputs: m, view: v, part: ps.base.visibility.part}, func(server string) bool {
		visible, known := servers[server]
		if !known {
			visible = v.Server(server)
			servers[server] = visible
		}
		return visible
	})
	ps.views[v] = c
	m.size.Add(int64(size))
	return c
}

// shows reports whether a server is visible.
func (c *Catalog) shows(b *upstream.Backend) bool { return c.whole() || c.named[b.Name] != nil }

// Sees reports whether an audience may see a server.
func (p *Publisher) Sees(audience upstream.Audience, b *upstream.Backend) bool {
	return p.Of(audience).shows(b)
}

// knows reports whether a server is visible that is configured, or was.
func (c *Catalog) knows(server string) bool {
	return c.whole() || c.named[server] != nil || slices.Contains(c.removed, server)
}

// visible returns the servers that a principal may see.
func (p *Publisher) visible(audience upstream.Audience) []*upstream.Backend {
	all, c := p.set.All(), p.Of(audience)
	if c.whole() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(b *upstream.Backend) bool { return !c.shows(b) })
}

// unlisted returns a route that is in no list as this catalog has it, nil where it is
// hidden. A server may list the same under another name: then that counts.
func (c *Catalog) unlisted(r *Route, k inventory.Kind) *Route {
	full := c.visibility.inputs.full
	if c.whole() || r.Definition != nil {
		return r
	}
	out := *r
	if k == inventory.Templates && full.listed(k, r.Backend, r.Bare) == nil {
		k = inventory.Resources // which it may be as well, and those are looked at more closely
	}
	if full.listed(k, r.Backend, r.Bare) != nil {
		its := c.listed(k, r.Backend, r.Bare)
		if its == nil {
			return nil
		}
		out.Rules, out.Edit = its.Rules, its.Edit
		return &out
	}
	if !c.visibility.part.showsUnlisted(k, r.Backend.Name, r.Bare, c) {
		return nil
	}
	if c.visibility.view == nil {
		return r
	}
	it := policy.Item{Kind: kindOf(k), Server: r.Backend.Name, Name: r.Bare}
	visible, use := c.visibility.view.Unlisted(it)
	if !visible {
		return nil
	}
	deliver, marks := c.visibility.view.UnlistedDelivery(it)
	out.Rules = rulesOf(use, deliver, marks)
	return &out
}

// Tool returns the route of a tool by its server's name, nil for one that is not known, and
// whether a principal may see it. Of one that is not known the server alone counts.
func (p *Publisher) Tool(audience upstream.Audience, b *upstream.Backend, bare string) (r *Route, visible bool) {
	c := p.Of(audience)
	if bare == "" || c.whole() {
		return nil, c.shows(b)
	}
	r = c.unlisted(routeTo(b, bare, false), inventory.Tools)
	return r, r != nil
}

// Shows reports whether a principal may see a resource of a server, by the server's URI.
func (p *Publisher) Shows(audience upstream.Audience, b *upstream.Backend, uri string) bool {
	c := p.Of(audience)
	return c.whole() || c.unlisted(routeTo(b, uri, false), inventory.Resources) != nil
}

// On returns whether a principal may do something with a server, and the conditions.
func (p *Publisher) On(audience upstream.Audience, action policy.Action, server string) (possible bool, c *policy.Conditions) {
	if its := p.Of(audience); its.visibility.view != nil {
		return its.visibility.view.On(action, server)
	}
	return true, nil
}

// Policies returns what stands for the policies that count, "" without any, how many views
// of them are kept and how many principals have one.
func (p *Publisher) Policies() (digest string, views, principals int) {
	ps := p.Current.Load().visibility.policies
	if ps == nil {
		return "", 0, 0
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.inputs.set.Digest(), len(ps.views), int(ps.principals.Load())
}

// Repolicy replaces the catalog by one under the policies that count now. The catalogs of
// the principals that were there last are made before, so that nobody waits for them.
func (p *Publisher) Repolicy() {
	for again := true; ; again = false {
		p.mu.Lock()
		before, after := p.Current.Load(), newCatalog(p)
		if !again || before.visibility.policies == nil || after.visibility.policies == nil {
			p.Current.Store(after)
			p.Listeners.announce(before, after, nil)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		before.visibility.policies.of.Range(func(principal, _ any) bool {
			after.as(principal.(*access.Principal)) //nolint:forcetypeassert // see of
			return true
		})
		p.mu.Lock()
		done := p.Current.Load() == before && p.o.Gate.Set() == after.visibility.inputs.set
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
