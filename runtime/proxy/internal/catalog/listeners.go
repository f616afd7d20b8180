package catalog

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
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

	mu   sync.Mutex // guards what follows, and is held while clients are told; taken under Publisher.mu
	of   map[Listener]inventory.ListSet
	held heldBack
}

// holdBackTime is how long clients are not told of changed lists while servers of
// a new configuration are asked what they offer: to be told twice would have
// them all list twice.
const holdBackTime = 5 * time.Second

// heldBack are changes of lists that clients are not told of yet.
type heldBack struct {
	by     int      // how many are waited for
	before *Catalog // as clients know it
	said   inventory.ListSet
}

// Add notifies a client of changes of some lists until stop.
func (ls *Listeners) Add(l Listener, lists inventory.ListSet) (stop func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.of[l] = lists
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
	if ls.held.by == 0 {
		ls.held.before = before
	}
	ls.held.by++
}

// release announces what has changed since the first holdBack, once it is called
// for the last.
func (ls *Listeners) release(now *Catalog) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.held.by--; ls.held.by == 0 {
		h := ls.held
		ls.held = heldBack{}
		ls.tell(h.before, now, h.said)
	}
}

// announce notifies clients which lists that they have seen differ, or are said to.
func (ls *Listeners) announce(before, after *Catalog, said inventory.ListSet) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.held.by > 0 {
		ls.held.said = ls.held.said.With(said)
		return
	}
	ls.tell(before, after, said)
}

// tell is announce where nothing is held back. The caller holds the lock.
func (ls *Listeners) tell(before, after *Catalog, said inventory.ListSet) {
	told := ""
	for _, k := range []inventory.Kind{inventory.Prompts, inventory.Resources, inventory.Templates, inventory.Tools} {
		method := k.Listing().Changed
		if method == told || !ls.seen[k].Load() || !said.Has(method) && before.same(after, k) {
			continue
		}
		told = method
		for l, lists := range ls.of {
			if lists.Has(method) {
				l.Notify(method, nil)
			}
		}
	}
}
