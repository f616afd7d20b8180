package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"context"
	"slices"
	"sync"
	"time"
)

// Enroll has requests go to the new backends from now on, and clients told.
func (p *Publisher) Enroll(r *upstream.Reconfiguration) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	names := namerOf(p.o, r.Roster, p.Names.Owners)
	for _, b := range r.Made {
		p.past.back(b.Name)
	}
	for old, successor := range r.Left {
		was := p.of(old)
		was.out = true
		if successor == nil {
			p.past.note(old.Name, was.inventory, nil)
			for _, server := range p.past.remove(old.Name) {
				names.forget(server)
				p.HandedOut.forget(server)
			}
			continue
		}
		is := p.of(successor)
		is.renamed = was.renamed
		if is.inventory == nil && was.inventory != nil {
			is.inventory, is.inherited = was.inventory, true
		}
		p.past.note(old.Name, was.inventory, is.inventory)
	}
	for _, b := range r.Roster {
		if o := p.of(b); !slices.Contains(r.Made, b) || o.inherited {
			o.renamed = o.renamed || names.unclear[b.Name] != p.Names.unclear[b.Name]
		}
	}
	p.Names = names
	p.set.Adopt(r)
	before, after := p.Current.Load(), newSnapshot(p)
	p.Current.Store(after)
	if p.holdBack(r.Made, before) {
		return // and announces
	}
	p.announce(before, after, inventory.ListSet{})
}

// holdBackTime is how long clients are not told of changed lists while servers of
// a new configuration are asked what they offer: to be told twice would have
// them all list twice.
const holdBackTime = 5 * time.Second

// holdBack asks backends what they offer, where clients have seen lists, and puts
// off what is to be announced until they have said so. It reports false where
// there is nothing to wait for. The caller holds the lock.
func (p *Publisher) holdBack(made []*upstream.Backend, before *Catalog) bool {
	now := time.Now()
	made = slices.DeleteFunc(slices.Clone(made), func(b *upstream.Backend) bool { return !b.IsDue(now) })
	if !p.watched() || len(made) == 0 {
		return false
	}
	if p.heldBack.by == 0 {
		p.heldBack.before = before
	}
	p.heldBack.by++
	p.set.Work.Go(func() { // bounded by settleTime
		ctx, cancel := context.WithTimeout(p.set.Lifetime, holdBackTime)
		defer cancel()
		var wg sync.WaitGroup
		for _, b := range made {
			wg.Go(func() { b.Meet(ctx) }) // its failure is logged, and reported with the lists
		}
		wg.Wait()
		p.Mu.Lock()
		defer p.Mu.Unlock()
		if p.heldBack.by--; p.heldBack.by == 0 {
			h := p.heldBack
			p.heldBack = heldBack{}
			p.announce(h.before, p.Current.Load(), h.said)
		}
	})
	return true
}

// watched tells whether clients have seen any list.
func (p *Publisher) watched() bool {
	for k := range inventory.Kinds {
		if p.SeenLists[k].Load() {
			return true
		}
	}
	return false
}

// heldBack are changes of lists that clients are not told of yet.
type heldBack struct {
	by     int      // how many are waited for
	before *Catalog // as clients know it
	said   inventory.ListSet
}

// announce tells clients which lists have changed, or are said to have. The
// caller holds the lock.
func (p *Publisher) announce(before, after *Catalog, said inventory.ListSet) {
	if p.heldBack.by > 0 {
		p.heldBack.said = p.heldBack.said.With(said)
		return
	}
	for _, method := range p.changes(before, after, said) {
		for l, kinds := range p.listeners {
			if kinds.Has(method) {
				l.Notify(method, nil)
			}
		}
	}
}

// SaveAgain has kept what is known of backends whose digest is another.
func (p *Publisher) SaveAgain(r *upstream.Reconfiguration) {
	for b := range r.Adjust {
		b.KeepUsage()
		p.Mu.Lock()
		o := p.of(b)
		has, inherited := o.inventory, o.inherited
		p.Mu.Unlock()
		if has != nil && !inherited {
			b.Save(has)
		}
	}
}

// RefreshSeen is refresh where clients have seen a list.
func (p *Publisher) RefreshSeen() {
	if p.watched() {
		p.refresh()
	}
}
