package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime/seal"
)

// Options are settings of what clients see; see proxy.Options.
type Options struct {
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
	o   Options
	log *slog.Logger
	set *upstream.Set

	Current   atomic.Pointer[Catalog]
	HandedOut handedOutLinks
	// SeenLists tells which lists a client has seen: nobody is told of changes to
	// what nobody has asked for.
	SeenLists  [inventory.Kinds]atomic.Bool
	updates    updates
	refreshing refreshing

	Mu        sync.Mutex // guards what follows, and is held while a snapshot is built; taken before a backend's
	Names     namer
	past      past
	offers    map[*upstream.Backend]*offers
	heldBack  heldBack
	listeners map[Listener]inventory.ListSet
}

// offers is what is known of one backend's part in the lists. publisher.mu guards
// it.
type offers struct {
	// inventory is what it last offered, nil before the first time.
	inventory *inventory.Inventory
	// sections are what it adds to the lists, as of the latest snapshot.
	sections [inventory.Kinds]*Section
	// out tells that it is in no configuration any more, inherited that the
	// inventory is of the backend in whose place it came, renamed that what it
	// offers has had names of the other form.
	out, inherited, renamed bool
}

// Listener is a client connection that wants to know of changes.
type Listener interface {
	// Notify sends a notification, nil params for none. It must not wait.
	Notify(method string, params []byte)
}

// NewPublisher returns a publisher of what a set of backends offers.
func NewPublisher(o Options, set *upstream.Set) *Publisher {
	p := &Publisher{
		o: o, log: o.Logger, set: set, Names: namerOf(o, nil, nil),
		offers: map[*upstream.Backend]*offers{}, listeners: map[Listener]inventory.ListSet{},
	}
	p.past = past{of: memories{}, shown: memories{}}
	p.Current.Store(newSnapshot(p))
	return p
}

// of returns what is known of a backend. The caller holds the lock.
func (p *Publisher) of(b *upstream.Backend) *offers {
	o := p.offers[b]
	if o == nil {
		o = &offers{}
		p.offers[b] = o
	}
	return o
}

// InventoryOf returns what a backend last offered, nil before the first time. The
// caller holds the lock.
func (p *Publisher) InventoryOf(b *upstream.Backend) *inventory.Inventory {
	if o := p.offers[b]; o != nil {
		return o.inventory
	}
	return nil
}

// InventoryNow is inventory for who does not hold the lock.
func (p *Publisher) InventoryNow(b *upstream.Backend) *inventory.Inventory {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.InventoryOf(b)
}

// Forget drops what is known of a backend that has ended.
func (p *Publisher) Forget(b *upstream.Backend) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	delete(p.offers, b)
}

// Listen has a client of the handshake era told of every change of a list.
func (p *Publisher) Listen(l Listener) (stop func()) {
	return p.ListenFor(l, inventory.ListSet{Tools: true, Prompts: true, Resources: true})
}

func (p *Publisher) ListenFor(l Listener, kinds inventory.ListSet) (stop func()) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.listeners[l] = kinds
	return func() {
		p.Mu.Lock()
		defer p.Mu.Unlock()
		delete(p.listeners, l)
	}
}

// Listening returns how many clients are told of changes.
func (p *Publisher) Listening() int {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return len(p.listeners)
}
