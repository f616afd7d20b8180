package catalog

import (
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Digest stands for the definition in a list that a route is of, as in lock files; "" for
// what is in no list.
func (r *Route) Digest(k inventory.Kind) string {
	if r.digest == nil {
		return ""
	}
	return r.digest.Of(func() string { return lockfile.Digest(pinned(k), r.Definition) })
}

// By returns the ids of the policies that let a principal use what a route leads to,
// whatever the request. They are not to be changed.
func (p *Publisher) By(audience upstream.Audience, k inventory.Kind, r *Route) []string {
	c := p.Of(audience)
	if c.visibility.view == nil {
		return nil
	}
	if o := c.visibility.inputs.offers[r.Backend]; o != nil && r.digest != nil && k < inventory.Kinds && r.at < len(o.inv.Items[k]) && o.inv.Items[k][r.at].Key == r.Bare { // else of another catalog
		return c.visibility.view.By(o.first[k] + r.at)
	}
	return c.visibility.view.UnlistedBy(policy.Item{Kind: kindOf(k), Server: r.Backend.Name, Name: r.Bare, Definition: r.Definition})
}

// OnBy returns the ids of the policies that let a principal do something with a server, or
// keep them from it, whatever the request.
func (p *Publisher) OnBy(audience upstream.Audience, action policy.Action, server string) []string {
	if c := p.Of(audience); c.visibility.view != nil {
		return c.visibility.view.OnBy(action, server)
	}
	return nil
}

// ByView is in the place of the id of a policy where a view hides something.
const ByView = "mcpctl.view"

// Hidden returns what a name or URI leads to that an audience is told nothing of, and the
// ids of the policies that hide it; "" for what is not there.
func (p *Publisher) Hidden(audience upstream.Audience, k inventory.Kind, key string) (server, item string, policies []string) {
	full, its := p.Current.Load(), p.Of(audience)
	if its.whole() {
		return "", "", nil
	}
	r := full.Routes[k][key]
	if r == nil && (k == inventory.Tools || k == inventory.Prompts) {
		r = p.otherwiseSpelt(full, k, key)
	} else if server, bare, ok := full.owners.Named(key); r == nil && ok && full.named[server] != nil {
		r = full.unwrapped(full.named[server], key, bare)
	} else if owner := full.owners.OfURI(key); r == nil && owner.Sole() {
		r, _ = full.to(owner, key)
	}
	if r == nil {
		return "", "", nil
	}
	if !its.visibility.part.showsItem(r, k) || its.listed(k, r.Backend, r.Bare) != nil {
		return r.Backend.Name, r.Bare, []string{ByView}
	}
	return r.Backend.Name, r.Bare, its.visibility.view.UnlistedBy(policy.Item{Kind: kindOf(k), Server: r.Backend.Name, Name: r.Bare, Definition: r.Definition})
}

// Listed returns what stands for a list as a principal sees it, and how many items it has.
func (p *Publisher) Listed(audience upstream.Audience, k inventory.Kind) (version string, items int) {
	c := p.Of(audience)
	return c.lists[k].version(), c.lists[k].count
}
