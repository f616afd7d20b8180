package catalog

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Options are settings of what clients see; see proxy.Options.
type Options struct {
	NoPrefix            bool
	Single              bool // the one server answers for what it does not list, too
	Separator           string
	NameLimit, PageSize int
	Ring                *seal.Keyring
	Info                []byte          // who the proxy says it is, as JSON
	ListGrace           time.Duration   // see proxy.Options
	Pins                *lockfile.Guard // says what is held back; nil: nothing is
	Gate                *gate.Gate      // says what each principal may see; nil: all
	Views               *views.Set      // at the beginning; see Review
	Hooks               *hooks.Registry
	Logger              *slog.Logger
}

// Publisher keeps what clients may see and where it leads. All methods may be
// called concurrently.
type Publisher struct {
	o          Options
	set        *upstream.Set
	Current    atomic.Pointer[Catalog]
	handedOut  Links
	Listeners  Listeners
	updates    updates
	seen       seenLists
	warned     sync.Map    // of tools that views cannot show; see warnOnce
	gathering  atomic.Bool // changes are announced together; see announceComing
	waiting    atomic.Bool // a list waits for servers; see sayWaiting
	refreshing atomic.Bool // servers are being looked at, or about to be; see refresh

	mu         sync.Mutex // guards what follows, and is held while a catalog is built; taken before a backend's
	names      Names
	tombstones Tombstones
	offers     offersOf
	views      *views.Set
}

// offersOf is the part of each backend. Publisher.mu guards it.
type offersOf map[*upstream.Backend]*offers

// offers is one backend's part in the lists. Publisher.mu guards it.
type offers struct {
	listed    *inventory.Inventory      // what it last offered, nil before the first time
	inventory *inventory.Inventory      // of that, what is not held back
	held      *lockfile.Verdict         // what is, nil for nothing
	sections  [inventory.Kinds]*Section // as of the latest catalog
	replaced  bool                      // it is in no configuration any more
	inherited bool                      // the inventory is of the backend in whose place it came
	renamed   bool                      // what it offers has had names of the other form
}

// NewPublisher returns a publisher of what a set of backends offers.
func NewPublisher(o Options, set *upstream.Set) *Publisher {
	p := &Publisher{
		o: o, set: set, views: o.Views, names: namesOf(o, nil, Names{}), tombstones: newTombstones(),
		offers: offersOf{}, Listeners: Listeners{all: o.Single, of: map[Listener]wish{}},
	}
	p.Current.Store(newCatalog(p))
	return p
}

// at returns a backend's part.
func (all offersOf) at(b *upstream.Backend) *offers {
	o := all[b]
	if o == nil {
		o = &offers{}
		all[b] = o
	}
	return o
}

// inventory returns what a backend last offered and is not held back, nil before the
// first time.
func (all offersOf) inventory(b *upstream.Backend) *inventory.Inventory {
	if o := all[b]; o != nil {
		return o.inventory
	}
	return nil
}

// known returns the backends that have offered something, in configured order, and
// what. The caller holds the lock.
func (p *Publisher) known() iter.Seq2[*upstream.Backend, *inventory.Inventory] {
	return func(yield func(*upstream.Backend, *inventory.Inventory) bool) {
		for _, b := range p.set.All() {
			if inv := p.offers.inventory(b); inv != nil && !yield(b, inv) {
				return
			}
		}
	}
}

// Inventory returns what a backend last offered and is not held back, nil before the
// first time.
func (p *Publisher) Inventory(b *upstream.Backend) *inventory.Inventory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offers.inventory(b)
}

// Forget drops what is known of a backend that has ended.
func (p *Publisher) Forget(b *upstream.Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.offers, b)
}

// update is what is new of a backend.
type update struct {
	backend *upstream.Backend
	offers  *inventory.Inventory // nil leaves what it offered before: only its failure is new
	said    inventory.ListSet    // what it has said to have changed

	done bool // it is in the catalog
	news bool // and some list has changed
}

// updates are those that wait for the next catalog. The zero value is ready.
type updates struct {
	mu      sync.Mutex // guards what follows
	waiting []*update
}

// Publish replaces the catalog by one with what a backend offers now, nil for what
// it offered before. Clients are told which lists have changed, and of what the
// backend says to have changed in any case. It reports whether any list has.
func (p *Publisher) Publish(b *upstream.Backend, offers *inventory.Inventory, said inventory.ListSet) (news bool) {
	u := &update{backend: b, offers: offers, said: said}
	p.compareHeld(u)
	p.publishAll(u)
	p.compareLater(u)
	return u.news
}

// Adopt publishes what backends offered to another process.
func (p *Publisher) Adopt(all []upstream.Restored) {
	us := make([]*update, len(all))
	for i, r := range all {
		us[i] = &update{backend: r.Backend, offers: r.Offers}
	}
	p.compareHeld(us...)
	p.publishAll(us...)
	p.compareLater(us...)
}

// publishAll publishes several updates with one catalog. What comes while one is
// built shares the next: many backends that connect at once cost a few.
func (p *Publisher) publishAll(us ...*update) {
	if len(us) == 0 {
		return
	}
	p.updates.mu.Lock()
	p.updates.waiting = append(p.updates.waiting, us...)
	p.updates.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if us[0].done { // they were added together, so all are
		return
	}
	p.updates.mu.Lock()
	all := p.updates.waiting
	p.updates.waiting = nil
	p.updates.mu.Unlock()
	var heard inventory.Said
	for _, u := range all {
		o := p.offers.at(u.backend)
		if o.replaced {
			continue
		}
		if u.offers != nil {
			u.offers.Follow(o.listed)
			inventory.Redefined(u.backend.Log, o.listed, u.offers)
			o.inherited = false
			p.admit(u.backend, u.offers)
		}
		heard = heard.With(u.backend.Name, u.said)
	}
	after := newCatalog(p)
	before := p.Current.Swap(after)
	news := false
	for k := range inventory.Kinds {
		news = news || !before.same(after, k)
	}
	// A list that waits for a backend goes on once it is listed. It has what is announced
	// here, so its client is not told.
	p.Listeners.announce(before, after, heard)
	for _, u := range all {
		o := p.offers.at(u.backend)
		u.backend.IsListed.Store(o.inventory != nil && !o.inherited)
		u.done, u.news = true, news
	}
}

// Reconfigure routes requests to the new backends from now on, and notifies clients.
func (p *Publisher) Reconfigure(r *upstream.Reconfiguration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := namesOf(p.o, r.Backends, p.names)
	for _, b := range r.Made {
		p.tombstones.Back(b.Name)
	}
	for old, successor := range r.Left {
		was := p.offers.at(old)
		was.replaced = true
		if successor == nil {
			p.tombstones.Add(old.Name, was.inventory, nil)
			for _, server := range p.tombstones.Remove(old.Name) {
				names.Forget(server)
				p.handedOut.Forget(server)
			}
			continue
		}
		current := p.offers.at(successor)
		current.renamed = was.renamed
		if current.inventory == nil && was.inventory != nil {
			current.listed, current.inventory, current.held, current.inherited = was.listed, was.inventory, was.held, true
		}
		p.tombstones.Add(old.Name, was.inventory, current.inventory)
	}
	for _, b := range r.Backends {
		if o := p.offers.at(b); !slices.Contains(r.Made, b) || o.inherited {
			o.renamed = o.renamed || names.Unclear(b.Name) != p.names.Unclear(b.Name)
		}
	}
	p.names = names
	p.set.Adopt(r)
	after := newCatalog(p)
	before := p.Current.Swap(after)
	if !p.holdBack(r.Made, before) {
		p.Listeners.announce(before, after, nil)
	}
}

// holdBack asks backends what they offer, where clients have seen lists, and puts
// off the announcement until they have answered. It reports false where there is
// nothing to wait for. The caller holds the lock.
func (p *Publisher) holdBack(made []*upstream.Backend, before *Catalog) bool {
	if made = due(made, upstream.Audience{}, 0); !p.Listeners.anySeen() || len(made) == 0 {
		return false
	}
	p.Listeners.holdBack(before)
	p.set.Work.Go(func() {
		ctx, cancel := context.WithTimeout(p.set.Lifetime, holdBackTime)
		defer cancel()
		meet(ctx, upstream.Audience{}, made, 0)
		p.mu.Lock() // another is not built meanwhile
		defer p.mu.Unlock()
		p.Listeners.release(p.Current.Load())
	})
	return true
}

// Persist stores what is known of backends whose digest is another.
func (p *Publisher) Persist(r *upstream.Reconfiguration) {
	for b := range r.Adjust {
		b.Persisted.SaveUsage()
		p.mu.Lock()
		o := p.offers.at(b)
		inv, inherited := o.listed, o.inherited
		p.mu.Unlock()
		if inv != nil && !inherited {
			b.Persisted.Save(inv)
		}
	}
}

// namesOf returns the names for a configuration; see NewNames.
func namesOf(o Options, servers []*upstream.Backend, before Names) Names {
	all := make([]string, len(servers))
	for i, b := range servers {
		all[i] = b.Name
	}
	return NewNames(o.Separator, o.NameLimit, all, before)
}
