package proxy

import (
	"context"
	"slices"
	"sync"
	"time"
)

// enroll has requests go to the new backends from now on, and clients told.
func (p *Publisher) enroll(r *reshaping) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := namerOf(p.o, r.roster, p.names.owners)
	for _, b := range r.made {
		p.past.back(b.name)
	}
	for old, successor := range r.left {
		was := p.of(old)
		was.out = true
		if successor == nil {
			p.past.note(old.name, was.inventory, nil)
			for _, server := range p.past.remove(old.name) {
				names.forget(server)
				p.handedOut.forget(server)
			}
			continue
		}
		is := p.of(successor)
		is.renamed = was.renamed
		if is.inventory == nil && was.inventory != nil {
			is.inventory, is.inherited = was.inventory, true
		}
		p.past.note(old.name, was.inventory, is.inventory)
	}
	for _, b := range r.roster {
		if o := p.of(b); !slices.Contains(r.made, b) || o.inherited {
			o.renamed = o.renamed || names.unclear[b.name] != p.names.unclear[b.name]
		}
	}
	p.names = names
	p.set.adopt(r)
	before, after := p.current.Load(), newSnapshot(p)
	p.current.Store(after)
	if p.holdBack(r.made, before) {
		return // and announces
	}
	p.announce(before, after, changeKinds{})
}

// holdBackTime is how long clients are not told of changed lists while servers of
// a new configuration are asked what they offer: to be told twice would have
// them all list twice.
const holdBackTime = 5 * time.Second

// holdBack asks backends what they offer, where clients have seen lists, and puts
// off what is to be announced until they have said so. It reports false where
// there is nothing to wait for. The caller holds the lock.
func (p *Publisher) holdBack(made []*Backend, before *Catalog) bool {
	now := time.Now()
	made = slices.DeleteFunc(slices.Clone(made), func(b *Backend) bool { return !b.isDue(now) })
	if !p.watched() || len(made) == 0 {
		return false
	}
	if p.heldBack.by == 0 {
		p.heldBack.before = before
	}
	p.heldBack.by++
	p.set.work.Go(func() { // bounded by settleTime
		ctx, cancel := context.WithTimeout(p.set.lifetime, holdBackTime)
		defer cancel()
		var wg sync.WaitGroup
		for _, b := range made {
			wg.Go(func() { b.meet(ctx) }) // its failure is logged, and reported with the lists
		}
		wg.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.heldBack.by--; p.heldBack.by == 0 {
			h := p.heldBack
			p.heldBack = heldBack{}
			p.announce(h.before, p.current.Load(), h.said)
		}
	})
	return true
}

// watched tells whether clients have seen any list.
func (p *Publisher) watched() bool {
	for k := range kinds {
		if p.seenLists[k].Load() {
			return true
		}
	}
	return false
}

// heldBack are changes of lists that clients are not told of yet.
type heldBack struct {
	by     int      // how many are waited for
	before *Catalog // as clients know it
	said   changeKinds
}

// announce tells clients which lists have changed, or are said to have. The
// caller holds the lock.
func (p *Publisher) announce(before, after *Catalog, said changeKinds) {
	if p.heldBack.by > 0 {
		p.heldBack.said = p.heldBack.said.with(said)
		return
	}
	for _, method := range p.changes(before, after, said) {
		for l, kinds := range p.listeners {
			if kinds.has(method) {
				l.notify(method, nil)
			}
		}
	}
}

// saveAgain has kept what is known of backends whose digest is another.
func (p *Publisher) saveAgain(r *reshaping) {
	for b := range r.adjust {
		b.keepUsage()
		p.mu.Lock()
		o := p.of(b)
		has, inherited := o.inventory, o.inherited
		p.mu.Unlock()
		if has != nil && !inherited {
			b.save(has)
		}
	}
}

// refreshSeen is refresh where clients have seen a list.
func (p *Publisher) refreshSeen() {
	if p.watched() {
		p.refresh()
	}
}
