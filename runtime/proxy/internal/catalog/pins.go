package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// What is held back leaves the inventory before a catalog is built from it: lists,
// calls and whose a URI is all follow from that one inventory, so they agree.

// admit takes over what a backend offers, without what is held back. The caller holds
// the lock, and has had it compared before: this finds the outcome of that.
func (p *Publisher) admit(b *upstream.Backend, listed *inventory.Inventory) {
	o := p.offers.at(b)
	before := o.inventory
	o.listed, o.inventory, o.held = listed, listed, nil
	if p.o.Pins.Mode(b.Name) == lockfile.Hold {
		if v := p.o.Pins.Check(b.Name, offerOf(listed)); v.HoldsAny() {
			o.inventory, o.held = without(listed, v), v
		}
	}
	p.tombstones.Add(b.Name, before, o.inventory)
}

// compareHeld compares what backends offer that have something held back, so that
// nobody waits for it at the lock.
func (p *Publisher) compareHeld(us ...*update) {
	for _, u := range us {
		if u.offers == nil || p.o.Pins.Mode(u.backend.Name) != lockfile.Hold {
			continue
		}
		p.mu.Lock()
		u.offers.Follow(p.offers.at(u.backend).listed)
		p.mu.Unlock()
		p.o.Pins.Check(u.backend.Name, offerOf(u.offers))
	}
}

// compareLater compares what backends offer where that only leads to a warning.
func (p *Publisher) compareLater(us ...*update) {
	for _, u := range us {
		if u.offers != nil && p.o.Pins.Mode(u.backend.Name) == lockfile.Warn {
			p.set.Work.Go(func() { p.o.Pins.Check(u.backend.Name, offerOf(u.offers)) })
		}
	}
}

// Repin compares again what the named servers offer, because something else is locked
// now, and replaces the catalog by one without what is held back.
func (p *Publisher) Repin(servers []string) {
	if len(servers) == 0 {
		return
	}
	type known struct {
		b      *upstream.Backend
		listed *inventory.Inventory
	}
	var all []known
	p.mu.Lock()
	for _, b := range p.set.All() {
		if o := p.offers[b]; o != nil && o.listed != nil && slices.Contains(servers, b.Name) {
			all = append(all, known{b, o.listed})
		}
	}
	p.mu.Unlock()
	for _, one := range all {
		p.o.Pins.Check(one.b.Name, offerOf(one.listed))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range all {
		if o := p.offers[one.b]; o != nil && o.listed != nil {
			p.admit(one.b, o.listed)
		}
	}
	after := newCatalog(p)
	before := p.Current.Swap(after)
	p.Listeners.announce(before, after, nil)
}

// offerOf returns an inventory as it is compared. Inventories have no name of the
// server: clients do not see it.
func offerOf(inv *inventory.Inventory) *lockfile.Offer {
	o := &lockfile.Offer{About: &lockfile.About{Instructions: inv.Instructions}}
	for k := range inventory.Kinds {
		if inv.Failed[k] != nil && inv.Items[k] == nil {
			continue
		}
		items := make([]lockfile.Item, len(inv.Items[k]))
		for i := range items {
			items[i] = lockfile.Item{Key: inv.Items[k][i].Key, Raw: inv.Items[k][i].Raw}
		}
		o.Items[pinned(k)] = items
	}
	return o
}

// pinned returns a kind as package lockfile has it.
func pinned(k inventory.Kind) lockfile.List {
	return [inventory.Kinds]lockfile.List{lockfile.Tools, lockfile.Prompts, lockfile.Resources, lockfile.Templates}[k]
}

// without returns an inventory that lacks what is held back.
func without(inv *inventory.Inventory, v *lockfile.Verdict) *inventory.Inventory {
	out := *inv
	for k := range inventory.Kinds {
		held := v.Held(pinned(k))
		if len(held) > 0 {
			out.Items[k] = slices.DeleteFunc(slices.Clone(inv.Items[k]), func(it inventory.Item) bool { return held[it.Key] })
		}
	}
	if v.HoldsInstructions() {
		out.Instructions = ""
	}
	return &out
}

// holding returns the backends of which something may be held back, with what is.
// The caller holds the lock.
func (p *Publisher) holding() map[*upstream.Backend]*lockfile.Verdict {
	var all map[*upstream.Backend]*lockfile.Verdict
	for _, b := range p.set.All() {
		if p.o.Pins.Mode(b.Name) != lockfile.Hold {
			continue
		}
		if all == nil {
			all = map[*upstream.Backend]*lockfile.Verdict{}
		}
		all[b] = nil
		if o := p.offers[b]; o != nil {
			all[b] = o.held
		}
	}
	return all
}

// Confirm returns the route of a name or URI once what its backend offers has been compared
// over the connection that there is; what is held back is not found, and
// what the principal was shown otherwise is denied. Where nothing can be held back it
// returns at once.
func Confirm(ctx context.Context, p *Publisher, audience upstream.Audience, k inventory.Kind, key string, r *Route) (*Route, error) {
	before := p.Of(audience)
	if _, held := before.held[r.Backend]; !held {
		return r, nil
	}
	c, err := settled(ctx, audience, p, before, r.Backend)
	if err != nil {
		return nil, err
	}
	switch {
	case k == inventory.Resources || k == inventory.Templates:
		if err := c.admits(r, key); err != nil {
			return nil, err
		}
		if c != before {
			if r = c.unlisted(routeTo(r.Backend, r.Bare, r.Wrapped), k); r == nil {
				return nil, noneLists(key)
			}
		}
	case r.Definition == nil:
		if c.held[r.Backend].Holds(pinned(k), key) {
			return nil, unknown(k, key)
		}
	case c != before:
		if r = cmp.Or(c.Routes[k][key], c.listed(k, r.Backend, r.Bare)); r == nil {
			return nil, unknown(k, key)
		}
	}
	if p.Redefined(audience, c, k, r) {
		return nil, p.redefined(audience, k, r)
	}
	return r, nil
}

// seenLists are the parts of lists that principals were shown last, of servers of which
// something can be held back: what they call is to be what they have seen. The zero value
// is ready.
type seenLists struct {
	mu sync.Mutex // guards what follows
	of map[seenKey]*Section
}

type seenKey struct {
	principal, view, server string
	k                       inventory.Kind
}

// maxSeen bounds them. Beyond it all are forgotten, and calls pass until the next list.
const maxSeen = 16 << 10

// add notes what a principal is shown.
func (s *seenLists) add(audience upstream.Audience, c *Catalog, k inventory.Kind) {
	if len(c.held) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || len(s.of) >= maxSeen {
		s.of = map[seenKey]*Section{}
	}
	noted := map[seenKey]*Section{} // a view has the pinned tools of a server in sections of their own
	for _, part := range c.lists[k].sections {
		if _, held := c.held[part.backend]; held {
			key := seenKey{audience.Who.Key(), audience.View, part.backend.Name, k}
			if first := noted[key]; first != nil {
				part = part.with(slices.Concat(first.entries, part.entries))
			}
			noted[key], s.of[key] = part, part
		}
	}
}

// Redefined reports whether a principal was last shown another definition of what a route
// leads to, where its server is one of which something can be held back.
func (p *Publisher) Redefined(audience upstream.Audience, c *Catalog, k inventory.Kind, r *Route) bool {
	if _, held := c.held[r.Backend]; !held || r.Definition == nil {
		return false
	}
	p.seen.mu.Lock()
	seen := p.seen.of[seenKey{audience.Who.Key(), audience.View, r.Backend.Name, k}]
	p.seen.mu.Unlock()
	if seen == nil || seen.inventory == c.inventoryOf(k, r.Backend) {
		return false
	}
	for _, e := range seen.entries {
		if e.item.Key == r.Bare {
			return !bytes.Equal(e.item.Raw, r.Definition)
		}
	}
	return false
}

// inventoryOf returns what a list has of a backend, nil for nothing.
func (c *Catalog) inventoryOf(k inventory.Kind, b *upstream.Backend) *inventory.Inventory {
	for _, s := range c.lists[k].sections {
		if s.backend == b {
			return s.inventory
		}
	}
	return nil
}

// redefined refuses what is not what a principal was shown, and tells it to list again.
func (p *Publisher) redefined(audience upstream.Audience, k inventory.Kind, r *Route) error {
	p.Listeners.remind(audience, k.Listing().Changed)
	return &access.Denied{
		Code: access.CodeDenied, Reason: "its definition has changed since it was listed: list again", Policy: "mcpctl.pin", Server: r.Backend.Name, Item: r.Bare,
	}
}

// settled returns the catalog once the lists of a backend have been compared over the
// connection that there is: nothing is called over one whose lists nobody has looked
// at. Where nothing can be held back it returns at once.
func settled(ctx context.Context, audience upstream.Audience, p *Publisher, c *Catalog, b *upstream.Backend) (*Catalog, error) {
	if _, held := c.held[b]; !held || b.Pool.DiscoveryConn() != nil {
		return c, nil
	}
	if err := b.EnsureDiscovered(ctx, audience.Who); err != nil {
		return nil, err
	}
	return p.Of(audience), nil
}

// admits refuses a URI, in the form of its server, that is held back or that only what
// is held back leads to.
func (c *Catalog) admits(r *Route, uri string) error {
	v := c.held[r.Backend]
	if !v.HoldsAny() {
		return nil
	}
	refused := v.Holds(lockfile.Resources, r.Bare) || v.Holds(lockfile.Templates, r.Bare)
	if !refused && c.Routes[inventory.Resources][uri] == nil {
		for template := range v.Held(lockfile.Templates) {
			refused = refused || Matcher(template)(r.Bare)
		}
		scheme, _ := SchemeOf(r.Bare)
		refused = refused && !c.owners.Matching(scheme, r.Bare).Has(r.Backend.Name)
	}
	if refused {
		return noneLists(uri)
	}
	return nil
}

// unknown is the answer to a name that nothing has.
func unknown(k inventory.Kind, name string) error {
	return &runtime.Error{Code: runtime.CodeInvalidParams, Message: fmt.Sprintf("unknown %s: %s", strings.TrimSuffix(k.Listing().Member, "s"), name)}
}
