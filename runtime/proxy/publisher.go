package proxy

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/seal"
)

// catalogOptions are settings of what clients see; see proxy.Options.
type catalogOptions struct {
	NoPrefix  bool
	Separator string
	NameLimit int
	PageSize  int
	Ring      *seal.Ring
	// Info is who the proxy says it is, as JSON.
	Info   []byte
	Logger *slog.Logger
}

// Publisher keeps what clients may see and where it leads. All methods may be
// called concurrently.
type Publisher struct {
	o   catalogOptions
	log *slog.Logger
	set *Set

	current   atomic.Pointer[Catalog]
	handedOut handedOutLinks
	// seenLists tells which lists a client has seen: nobody is told of changes to
	// what nobody has asked for.
	seenLists  [kinds]atomic.Bool
	updates    updates
	refreshing refreshing

	mu        sync.Mutex // guards what follows, and is held while a snapshot is built; taken before a backend's
	names     namer
	past      past
	offers    map[*Backend]*offers
	heldBack  heldBack
	listeners map[listener]changeKinds
}

// offers is what is known of one backend's part in the lists. publisher.mu guards
// it.
type offers struct {
	// inventory is what it last offered, nil before the first time.
	inventory *Inventory
	// sections are what it adds to the lists, as of the latest snapshot.
	sections [kinds]*Section
	// out tells that it is in no configuration any more, inherited that the
	// inventory is of the backend in whose place it came, renamed that what it
	// offers has had names of the other form.
	out, inherited, renamed bool
}

// listener is a client connection that wants to know of changes.
type listener interface {
	// notify sends a notification, nil params for none. It must not wait.
	notify(method string, params []byte)
}

// newPublisher returns a publisher of what a set of backends offers.
func newPublisher(o catalogOptions, set *Set) *Publisher {
	p := &Publisher{
		o: o, log: o.Logger, set: set, names: namerOf(o, nil, nil),
		offers: map[*Backend]*offers{}, listeners: map[listener]changeKinds{},
	}
	p.past = past{of: memories{}, shown: memories{}}
	p.current.Store(newSnapshot(p))
	return p
}

// of returns what is known of a backend. The caller holds the lock.
func (p *Publisher) of(b *Backend) *offers {
	o := p.offers[b]
	if o == nil {
		o = &offers{}
		p.offers[b] = o
	}
	return o
}

// inventoryOf returns what a backend last offered, nil before the first time. The
// caller holds the lock.
func (p *Publisher) inventoryOf(b *Backend) *Inventory {
	if o := p.offers[b]; o != nil {
		return o.inventory
	}
	return nil
}

// inventoryNow is inventory for who does not hold the lock.
func (p *Publisher) inventoryNow(b *Backend) *Inventory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inventoryOf(b)
}

// forget drops what is known of a backend that has ended.
func (p *Publisher) forget(b *Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.offers, b)
}

// listen has a client of the handshake era told of every change of a list.
func (p *Publisher) listen(l listener) (stop func()) {
	return p.listenFor(l, changeKinds{true, true, true})
}

func (p *Publisher) listenFor(l listener, kinds changeKinds) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners[l] = kinds
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.listeners, l)
	}
}

// listening returns how many clients are told of changes.
func (p *Publisher) listening() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.listeners)
}
