package proxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/store"
)

// Changes tells by name what another configuration has changed. The slices are
// in the order of that configuration, Removed in the order of the one before.
type Changes struct {
	// Added and Removed are servers that are new and that are gone.
	Added, Removed []string
	// Replaced are servers that are reached otherwise: their connections are
	// made anew.
	Replaced []string
	// Adjusted are those whose connections stay and whose settings are others.
	Adjusted []string
}

// None tells whether nothing has changed but, perhaps, the order.
func (c Changes) None() bool {
	return len(c.Added)+len(c.Removed)+len(c.Replaced)+len(c.Adjusted) == 0
}

// Reconfigure puts other servers behind the proxy. What concerns a server that
// stays as it was is not touched: its connections, its calls, its names and
// URIs. Dial must know the new servers by now.
//
// From its return on requests go by the new servers. Calls that are under way to
// one that is gone or replaced end as they would have, for up to 30 s or the
// server's RequestTimeout where that is less; then its connections are closed.
// A replaced server keeps its place in the lists, with what it offered, until it
// has been asked anew; subscriptions follow it, tasks and interrupted calls do
// not.
//
// Clients that have seen a list are told once that it has changed, when added and
// replaced servers have been asked what they offer, after five seconds at the
// latest.
//
// It fails, and changes nothing, for a name that is empty or repeated, and after
// Close.
func (p *Proxy) Reconfigure(servers []Server) (Changes, error) {
	if err := distinct(servers); err != nil {
		return Changes{}, err
	}
	p.shape.Lock() // memory work but for recall, which is bounded; nobody else waits for it but Close
	defer p.shape.Unlock()
	if p.lifetime.Err() != nil {
		return Changes{}, errProxyClosed
	}
	r := p.compare(servers)
	if r.same {
		return r.Changes, nil
	}
	p.recall(r.made)
	p.enroll(r, servers)
	for old, successor := range r.left {
		old.depart(successor)
	}
	for _, b := range r.roster {
		if _, adjusted := r.adjust[b]; adjusted {
			p.saveAgain(b)
		}
		if p.begun.Load() {
			b.start()
		}
	}
	if p.watched() {
		p.refresh() // what is stored of the new ones
	}
	return r.Changes, nil
}

// saveAgain has kept what is known of a backend whose digest is another.
func (p *Proxy) saveAgain(b *backend) {
	b.keepUsage()
	p.mu.Lock()
	cat, inherited := b.catalog, b.inherited
	p.mu.Unlock()
	if cat != nil && !inherited {
		b.save(cat)
	}
}

// distinct refuses servers that cannot be told apart.
func distinct(servers []Server) error {
	seen := map[string]bool{}
	for _, s := range servers {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("proxy: server %q: the name is empty or repeated", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// reshaping is what becomes of the backends.
type reshaping struct {
	Changes
	roster []*backend
	made   []*backend            // those that were not there before
	left   map[*backend]*backend // those that go, with what comes in their place, nil for nothing
	adjust map[*backend]Server   // those that stay, with settings that are others
	same   bool                  // nothing changes
}

// compare tells what has to change.
func (p *Proxy) compare(servers []Server) reshaping {
	r := reshaping{left: map[*backend]*backend{}, adjust: map[*backend]Server{}}
	before := map[string]*backend{}
	for _, b := range p.all() {
		before[b.name] = b
	}
	for _, set := range servers {
		b := before[set.Name]
		delete(before, set.Name)
		switch {
		case b == nil:
			r.Added = append(r.Added, set.Name)
		case b.filled(set) == *b.set():
			r.roster = append(r.roster, b)
			continue
		case set.way() == b.set().way():
			r.Adjusted = append(r.Adjusted, set.Name)
			r.roster, r.adjust[b] = append(r.roster, b), set
			continue
		default:
			r.Replaced = append(r.Replaced, set.Name)
		}
		made := newBackend(p, set)
		r.roster, r.made = append(r.roster, made), append(r.made, made)
		if b != nil {
			r.left[b] = made
		}
	}
	for _, b := range p.all() {
		if before[b.name] != nil {
			r.Removed, r.left[b] = append(r.Removed, b.name), nil
		}
	}
	r.same = r.None() && slices.Equal(r.roster, p.all())
	return r
}

// way stands for how the server is reached.
func (s Server) way() string {
	if s.Connection == "" {
		return s.Digest
	}
	return s.Connection
}

// enroll has requests go to the new backends from now on, and clients told.
func (p *Proxy) enroll(r reshaping, servers []Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := namerOf(p.o, servers, p.names.owners)
	for _, b := range r.made {
		p.past.back(b.name)
		for _, old := range p.leaving { // removed a moment ago, and back
			if old.name == b.name {
				b.primary.ending = old.gone // the latest
			}
		}
	}
	for old, successor := range r.left {
		old.out = true
		p.leaving = append(p.leaving, old)
		if successor == nil {
			p.past.note(old.name, old.catalog, nil)
			for _, server := range p.past.remove(old.name) {
				names.forget(server)
				p.handedOut.forget(server)
			}
			continue
		}
		successor.renamed = old.renamed
		successor.primary.ending = old.gone // some programs cannot run twice
		if successor.catalog == nil && old.catalog != nil {
			successor.catalog, successor.inherited = old.catalog, true
		}
		p.past.note(old.name, old.catalog, successor.catalog)
	}
	for b, set := range r.adjust {
		b.mu.Lock()
		b.adjust(set)
		b.stored = 0
		b.kept = store.Usage{}
		b.expose()
		b.mu.Unlock()
	}
	for _, b := range r.roster {
		if !slices.Contains(r.made, b) || b.inherited {
			b.renamed = b.renamed || names.unclear[b.name] != p.names.unclear[b.name]
		}
	}
	p.names = names
	p.roster.Store(&r.roster)
	before, after := p.snap.Load(), newSnapshot(p)
	p.snap.Store(after)
	if p.settle(r.made, before) {
		return // and announces
	}
	p.announce(before, after, changeKinds{})
}

// settleTime is how long clients are not told of changed lists while servers of
// a new configuration are asked what they offer: to be told twice would have
// them all list twice.
const settleTime = 5 * time.Second

// settle asks backends what they offer, where clients have seen lists, and puts
// off what is to be announced until they have said so. It reports false where
// there is nothing to wait for. The caller holds the lock.
func (p *Proxy) settle(made []*backend, before *snapshot) bool {
	now := time.Now()
	made = slices.DeleteFunc(slices.Clone(made), func(b *backend) bool { return !b.due(now) })
	if !p.watched() || len(made) == 0 {
		return false
	}
	if p.held.by == 0 {
		p.held.before = before
	}
	p.held.by++
	p.work.Go(func() { // bounded by settleTime
		ctx, cancel := context.WithTimeout(p.lifetime, settleTime)
		defer cancel()
		var wg sync.WaitGroup
		for _, b := range made {
			wg.Go(func() { b.meet(ctx) }) // its failure is logged, and reported with the lists
		}
		wg.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.held.by--; p.held.by == 0 {
			h := p.held
			p.held = held{}
			p.announce(h.before, p.snap.Load(), h.said)
		}
	})
	return true
}

// watched tells whether clients have seen any list.
func (p *Proxy) watched() bool {
	for k := range kinds {
		if p.seen[k].Load() {
			return true
		}
	}
	return false
}

// held are changes of lists that clients are not told of yet.
type held struct {
	by     int       // how many are waited for
	before *snapshot // as clients know it
	said   changeKinds
}

// announce tells clients which lists have changed, or are said to have. The
// caller holds the lock.
func (p *Proxy) announce(before, after *snapshot, said changeKinds) {
	if p.held.by > 0 {
		p.held.said = p.held.said.with(said)
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
