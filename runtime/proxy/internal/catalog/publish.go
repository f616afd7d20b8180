package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"maps"
	"slices"
	"sync"
)

// update is news of a backend for the snapshot.
type update struct {
	b *upstream.Backend
	// cat is what it offers now; nil leaves what it offered before: only its
	// failure is new.
	cat *inventory.Inventory
	// said is what it has said to have changed, which is told in any case.
	said inventory.ListSet

	done bool // it is in the snapshot
	news bool // and some list has changed
}

// updates are those that wait for the next snapshot. The zero value is ready.
type updates struct {
	mu      sync.Mutex // guards what follows
	waiting []*update
}

// Publish replaces the snapshot by one with what a backend offers now, and
// tells clients which lists are no longer what they were. A nil catalogue
// leaves what it offered before: only its failure is new. It tells whether any
// list has changed. What the backend has said is told in any case.
func (p *Publisher) Publish(b *upstream.Backend, cat *inventory.Inventory, said inventory.ListSet) (news bool) {
	u := &update{b: b, cat: cat, said: said}
	p.publishAll(u)
	return u.news
}

// publishAll does the same for several backends. A snapshot is built of what
// all offer, so whatever has come up while one was built shares the next one:
// many backends that connect at once cost a few.
func (p *Publisher) publishAll(us ...*update) {
	if len(us) == 0 {
		return
	}
	p.updates.mu.Lock()
	p.updates.waiting = append(p.updates.waiting, us...)
	p.updates.mu.Unlock()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if us[0].done { // they were added together, so all are
		return
	}
	p.updates.mu.Lock()
	all := p.updates.waiting
	p.updates.waiting = nil
	p.updates.mu.Unlock()
	var said inventory.ListSet
	for _, u := range all {
		o := p.of(u.b)
		if o.out {
			continue // another has come in its place
		}
		if u.cat != nil {
			u.cat.FillIn(o.inventory)
			inventory.Redefined(u.b.Log, o.inventory, u.cat)
			p.past.note(u.b.Name, o.inventory, u.cat)
			o.inventory, o.inherited = u.cat, false
		}
		said = said.With(u.said)
	}
	before, after := p.Current.Load(), newSnapshot(p)
	p.Current.Store(after)
	news := false
	for k := range inventory.Kinds {
		news = news || !before.same(after, k)
	}
	for _, u := range all {
		o := p.of(u.b)
		u.b.IsListed.Store(o.inventory != nil && !o.inherited)
		u.done, u.news = true, news
	}
	p.announce(before, after, said)
}

// changes gives the notifications for lists that clients have seen and that
// differ now, or are said to.
func (p *Publisher) changes(before, after *Catalog, said inventory.ListSet) []string {
	methods := map[string]bool{}
	for k := range inventory.Kinds {
		if method := k.Listing().Changed; p.SeenLists[k].Load() && (said.Has(method) || !before.same(after, k)) {
			methods[method] = true
		}
	}
	return slices.Sorted(maps.Keys(methods))
}

// TakeOver publishes what backends offered to another process.
func (p *Publisher) TakeOver(all []upstream.Recalled) {
	us := make([]*update, len(all))
	for i, r := range all {
		us[i] = &update{b: r.Backend, cat: r.Offers}
	}
	p.publishAll(us...)
}
