package catalog

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Listener is a client connection that is told of changes.
type Listener interface {
	// Notify sends a notification, nil params for none. It must not wait.
	Notify(method string, params []byte)
}

// Listeners are the clients that are told of changed lists. All methods may be
// called concurrently.
type Listeners struct {
	seen [inventory.Kinds]atomic.Bool // lists that clients have asked for: they are told of changes to no others
	all  bool                         // but of what a server itself says

	mu   sync.Mutex // guards what follows, and is held while clients are told; taken under Publisher.mu
	of   map[Listener]wish
	held heldBack
}

// wish is what a listener is told of: changes of some lists as an audience sees them.
type wish struct {
	audience func() upstream.Audience
	lists    inventory.ListSet
}

// holdBackTime is how long clients are not told of changed lists while servers of
// a new configuration are asked what they offer: to be told twice would have
// them all list twice.
const holdBackTime = 5 * time.Second

// heldBack are changes of lists that clients are not told of yet.
type heldBack struct {
	waiting int      // how many are waited for
	before  *Catalog // as clients know it
	said    inventory.Said
}

// Add notifies a client of changes of some lists, as the audience sees them that it is
// at the time, until stop.
func (ls *Listeners) Add(l Listener, audience func() upstream.Audience, lists inventory.ListSet) (stop func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.of[l] = wish{audience, lists}
	return func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		delete(ls.of, l)
	}
}

// Count returns how many clients are told of changes.
func (ls *Listeners) Count() int {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.of)
}

// See notes that a client has asked for a list.
func (ls *Listeners) See(k inventory.Kind) { ls.seen[k].Store(true) }

// anySeen reports whether clients have seen any list.
func (ls *Listeners) anySeen() bool {
	for k := range inventory.Kinds {
		if ls.seen[k].Load() {
			return true
		}
	}
	return false
}

// holdBack puts off what would be announced, until release. before is the catalog
// that clients know.
func (ls *Listeners) holdBack(before *Catalog) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.held.waiting == 0 {
		ls.held.before = before
	}
	ls.held.waiting++
}

// release announces what has changed since the first holdBack, once it is called
// for the last.
func (ls *Listeners) release(now *Catalog) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.held.waiting--; ls.held.waiting == 0 {
		h := ls.held
		ls.held = heldBack{}
		ls.tell(h.before, now, h.said)
	}
}

// announce notifies clients which lists that they have seen differ, or are said to.
func (ls *Listeners) announce(before, after *Catalog, said inventory.Said) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.held.waiting > 0 {
		for server, lists := range said {
			ls.held.said = ls.held.said.With(server, lists)
		}
		return
	}
	ls.tell(before, after, said)
}

// tell is announce where nothing is held back. The caller holds the lock.
func (ls *Listeners) tell(before, after *Catalog, said inventory.Said) {
	type change struct{ before, after *Catalog }
	known := map[change][]string{} // what has changed for those who see the same
	for l, w := range ls.of {
		audience := w.audience()
		one := change{before.of(audience), after.of(audience)}
		methods, ok := known[one]
		if !ok {
			methods = ls.news(one.before, one.after, said)
			known[one] = methods
		}
		for _, method := range methods {
			if w.lists.Has(method) {
				l.Notify(method, nil)
			}
		}
	}
}

// remind notifies the clients of an audience that a list has changed.
func (ls *Listeners) remind(audience upstream.Audience, method string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l, w := range ls.of {
		if w.lists.Has(method) && w.audience().Key() == audience.Key() {
			l.Notify(method, nil)
		}
	}
}

// news returns the notifications of what clients have seen that differs between two
// catalogs, or that a server says to have changed.
func (ls *Listeners) news(before, after *Catalog, said inventory.Said) (methods []string) {
	for _, k := range []inventory.Kind{inventory.Prompts, inventory.Resources, inventory.Templates, inventory.Tools} {
		method := k.Listing().Changed
		seen := ls.seen[k].Load()
		if !seen && !ls.all || slices.Contains(methods, method) {
			continue
		}
		news := seen && !before.same(after, k)
		for server, lists := range said {
			news = news || lists.Has(method) && after.named[server] != nil
		}
		if news {
			methods = append(methods, method)
		}
	}
	return methods
}
