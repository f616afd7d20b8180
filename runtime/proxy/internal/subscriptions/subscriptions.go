package subscriptions

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Subscribe notifies a listener of what a filter names, from now until stop, which
// does not wait. honoured is the filter without URIs that no server has, or whose
// server does not report changes. It waits for the servers of the URIs, and fails
// only with ctx.
func (h *Hub) Subscribe(ctx context.Context, from *upstream.Caller, l catalog.Listener, f Filter) (honoured Filter, stop func(), err error) {
	honoured.ListSet = f.ListSet
	audience := from.Audience
	stops := []func(){h.catalog.Listeners.Add(l, func() upstream.Audience { return audience }, f.ListSet)}
	stop = sync.OnceFunc(func() {
		for _, s := range stops {
			s()
		}
	})
	failures := make([]error, len(f.URIs))
	each := make([]func(), len(f.URIs))
	var wg sync.WaitGroup
	for i, uri := range f.URIs {
		if slices.Contains(f.URIs[:i], uri) {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, followTime) // one slow server is not to delay the others'
			defer cancel()
			each[i], failures[i] = h.follow(ctx, from, l, uri)
		})
	}
	wg.Wait()
	var following func()
	honoured.tasks, following = h.tasks(ctx, from, l, f.tasks)
	stops = append(stops, following)
	for i, s := range each {
		switch {
		case s != nil:
			stops = append(stops, s)
			honoured.URIs = append(honoured.URIs, f.URIs[i])
		case failures[i] != nil:
			h.set.Log.Debug("server does not report a resource's changes", "uri", f.URIs[i], "err", failures[i])
		}
	}
	if err := ctx.Err(); err != nil {
		stop()
		return Filter{}, nil, err
	}
	return honoured, stop, nil
}

// followTime is how long a server may take to accept a subscription.
const followTime = 10 * time.Second

// follow subscribes to one resource.
func (h *Hub) follow(ctx context.Context, from *upstream.Caller, l catalog.Listener, uri string) (stop func(), err error) {
	var done func(error) error // once it was admitted
	stop, err = upstream.RetryReplaced(func() (func(), error) {
		to, err := h.catalog.ResolveURI(ctx, from.Audience, uri)
		if done == nil {
			done, err = h.admit(ctx, from, uri, to, err)
		}
		if err == nil {
			to, err = catalog.Confirm(ctx, h.catalog, from.Audience, inventory.Resources, uri, to)
		}
		if err != nil {
			return nil, err
		}
		stop, err := h.followRoute(ctx, from, l, uri, to)
		if errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed) {
			return h.followRoute(ctx, from, l, uri, to) // it was just closed as idle, or has ended
		}
		return stop, err
	})
	if done == nil {
		return stop, err
	}
	if why := done(err); why != nil {
		if err == nil {
			stop()
		}
		return nil, why
	}
	return stop, nil
}

func (h *Hub) followRoute(ctx context.Context, from *upstream.Caller, l catalog.Listener, uri string, to *catalog.Route) (stop func(), err error) {
	b := to.Backend
	if err := b.EnsureDiscovered(ctx, from.Who); err != nil {
		return nil, err
	}
	// Where the client's calls go: a server may report a change only to the session
	// that has made it.
	slot, err := b.Pool.SelectSlot(from)
	if err == nil && slot.Exclusive {
		b.Pool.Release(slot)
		slot, err = b.Pool.SharedSlot(from)
	}
	if err != nil {
		return nil, b.Fail(err)
	}
	c, err := slot.Acquire(ctx)
	if err != nil {
		return nil, b.Fail(err)
	}
	if !c.TakesSubscriptions() {
		return nil, upstream.Invalid("server %s does not tell when its resources change", b.Name)
	}
	s := &Subscription{Listener: l, client: from.Client, audience: from.Audience, URI: uri, Bare: to.Bare, wrapped: to.Wrapped}
	if err := h.Add(ctx, c, s); err != nil {
		return nil, err
	}
	if b.IsReplaced() && h.reclaim(s, b) {
		return nil, upstream.ErrReplaced
	}
	return func() { h.Remove(s) }, nil
}

// Subscription is one client's wish to be told of one resource.
type Subscription struct {
	Listener  catalog.Listener
	client    *upstream.Client // nil for a client without a session
	audience  upstream.Audience
	URI, Bare string // what the client calls it, and what the server does
	wrapped   bool
	watched   *watched // guarded by Hub.mu, as is release
	release   func()   // lets go of the slot, which is kept connected
}

// watched is a resource that a server is subscribed to over one slot.
type watched struct {
	slot *upstream.Slot
	bare string
	turn chan struct{} // one place: who tells the server

	subs   map[*Subscription]struct{} // guarded by Hub.mu
	missed bool                       // changes may have been missed already; guarded by Hub.mu
	told   *upstream.Conn             // where the server was told; the turn's holder's alone
}

// Hub keeps who wants to know of which resource, counted by slot and URI, so that a
// server is told once. All methods may be called concurrently.
type Hub struct {
	set     *upstream.Set
	catalog *catalog.Publisher
	unsent  *limits.Counter // of messages for clients
	tasks   followTasks
	admit   admit

	mu    sync.Mutex // guards what follows and what it holds; only that of a slot's keeps is taken under it
	slots map[*upstream.Slot]map[string]*watched
	// watches end the subscriptions of clients of the handshake era, by the URI that
	// the client named.
	watches map[*upstream.Client]map[string]func()
}

// followTasks notifies a listener of tasks, from now until stop, and returns those of
// them that there are.
type followTasks func(ctx context.Context, from *upstream.Caller, l catalog.Listener, ids []string) (honoured []string, stop func())

// admit refuses a request for a resource that policies deny. to is where the URI leads; nil:
// failed says that nobody knows. done is called with what comes of it, and returns that, or
// why the client gets nothing.
type admit func(ctx context.Context, from *upstream.Caller, uri string, to *catalog.Route, failed error) (done func(error) error, err error)

// NewHub returns a hub without subscriptions. unsent counts what waits for clients.
func NewHub(set *upstream.Set, catalog *catalog.Publisher, unsent *limits.Counter, tasks followTasks, may admit) *Hub {
	return &Hub{set: set, catalog: catalog, unsent: unsent, tasks: tasks, admit: may, slots: map[*upstream.Slot]map[string]*watched{}, watches: map[*upstream.Client]map[string]func(){}}
}

// put adds a subscription to a slot. The caller holds the lock.
func (h *Hub) put(l *upstream.Slot, s *Subscription) *watched {
	if h.slots[l] == nil {
		h.slots[l] = map[string]*watched{}
	}
	w := h.slots[l][s.Bare]
	if w == nil {
		w = &watched{slot: l, bare: s.Bare, turn: make(chan struct{}, 1), subs: map[*Subscription]struct{}{}}
		h.slots[l][s.Bare] = w
	}
	w.subs[s] = struct{}{}
	s.watched, s.release = w, l.Keeps.Add(time.Time{})
	return w
}

// take removes a subscription and returns where it was, nil for nowhere. The caller
// holds the lock.
func (h *Hub) take(s *Subscription) *watched {
	w := s.watched
	if w != nil {
		delete(w.subs, s)
		s.release()
		s.watched = nil
	}
	return w
}

// Add subscribes over a connection and waits until the server has agreed.
func (h *Hub) Add(ctx context.Context, c *upstream.Conn, s *Subscription) error {
	h.mu.Lock()
	w := h.put(c.Slot, s)
	h.mu.Unlock()
	_, err := h.sync(ctx, w, c)
	if err != nil {
		h.Remove(s)
	}
	return err
}

// Remove ends a subscription; the server is told in the background.
func (h *Hub) Remove(s *Subscription) {
	h.mu.Lock()
	w := h.take(s)
	h.mu.Unlock()
	if w != nil {
		h.syncLater(w)
	}
}

// syncLater is sync in the background.
func (h *Hub) syncLater(w *watched) {
	if h.set.Lifetime.Err() != nil {
		return
	}
	h.set.Work.Go(func() {
		ctx, cancel := context.WithTimeout(h.set.Lifetime, limits.TellTime)
		defer cancel()
		c := w.slot.Ready.Load()
		if c == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.forget(w)
			return
		}
		if _, err := h.sync(ctx, w, c); err != nil {
			w.slot.Backend.Log.Debug("backend takes no subscription", "uri", w.bare, "err", err)
		}
	})
}

// sync subscribes or unsubscribes at the server where that is due, one at a time. It
// reports whether it has subscribed again what was subscribed over another
// connection.
func (h *Hub) sync(ctx context.Context, w *watched, c *upstream.Conn) (again bool, err error) {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-w.turn }()
	h.mu.Lock()
	wanted := len(w.subs) > 0
	if w.told != c {
		h.forget(w)
	}
	h.mu.Unlock()
	if wanted == (w.told == c) {
		return false, nil
	}
	method := revision.MethodResourcesUnsubscribe
	if wanted {
		method = revision.MethodResourcesSubscribe
	}
	params := append(rawjson.Quote([]byte(`{"uri":`), w.bare), '}')
	_, err = c.Client.Transport().Call(ctx, &runtime.Request{Method: method, Params: params})
	switch {
	case !wanted:
		w.told = nil // even if it has refused: it goes on telling nobody
		h.mu.Lock()
		defer h.mu.Unlock()
		h.forget(w)
	case err == nil:
		h.mu.Lock()
		again = w.told != nil || w.missed
		w.missed = false
		h.mu.Unlock()
		w.told = c
	}
	return again, err
}

// forget drops a resource without subscriptions. The caller holds the lock.
func (h *Hub) forget(w *watched) {
	if len(w.subs) > 0 || h.slots[w.slot][w.bare] != w {
		return
	}
	delete(h.slots[w.slot], w.bare)
	if len(h.slots[w.slot]) == 0 {
		delete(h.slots, w.slot)
	}
}

// Restore subscribes again over a new connection. Whoever was subscribed before may
// have missed changes in between, and is told of one.
func (h *Hub) Restore(ctx context.Context, c *upstream.Conn) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.slots[c.Slot]))
	h.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limits.TellTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			missed, err := h.sync(ctx, w, c)
			if err != nil {
				c.Slot.Backend.Log.Warn("subscription is lost", "uri", w.bare, "err", err)
			}
			if missed {
				h.Updated(c.Slot, append(rawjson.Quote([]byte(`{"uri":`), w.bare), '}'))
			}
		})
	}
	wg.Wait()
}

// Move moves a client's subscriptions at a backend to another slot: from now on its
// calls go there, and with them the changes that they cause.
func (h *Hub) Move(client *upstream.Client, l *upstream.Slot) {
	h.mu.Lock()
	var from, to []*watched
	for other, all := range h.slots {
		if other == l || other.Backend != l.Backend {
			continue
		}
		for _, w := range all {
			for s := range w.subs {
				if s.client == client {
					from = append(from, h.take(s))
					to = append(to, h.put(l, s))
				}
			}
		}
	}
	h.mu.Unlock()
	for _, w := range append(from, to...) {
		h.syncLater(w) // where it is not connected yet, connecting settles it
	}
}

// Updated sends an update of a resource to those who have subscribed to it, or to
// what it is a part of: "the URI ... might be a sub-resource of the one that the
// client actually subscribed to" (2025-11-25, Resources). A listener is told
// once, by the nearest of its subscriptions.
func (h *Hub) Updated(l *upstream.Slot, params json.RawMessage) {
	at, err := rawjson.Field(params, "uri")
	if err != nil {
		return
	}
	uri, ok := rawjson.String(params, at)
	if !ok {
		return
	}
	type update struct {
		depth    int
		params   []byte
		audience upstream.Audience
	}
	out := map[catalog.Listener]update{}
	h.mu.Lock()
	for bare, w := range h.slots[l] {
		if !covers(bare, uri) {
			continue
		}
		for s := range w.subs {
			if len(bare) >= out[s.Listener].depth {
				out[s.Listener] = update{len(bare), s.exposed(l.Backend, uri, params), s.audience}
			}
		}
	}
	h.mu.Unlock()
	for to, n := range out {
		if !h.catalog.Shows(n.audience, l.Backend, uri) {
			continue // policies, or the server's lists, have changed since
		}
		to.Notify(revision.NotificationResourceUpdated, n.params)
	}
}

// exposed returns the params of an update with the URI that the client knows.
func (s *Subscription) exposed(b *upstream.Backend, uri string, params []byte) []byte {
	name := uri
	switch {
	case uri == s.Bare:
		name = s.URI
	case s.wrapped:
		name = catalog.Wrap(b.Name, uri)
	}
	if name == uri {
		return params
	}
	at, err := rawjson.Field(params, "uri")
	if err != nil || !at.Present() {
		return params
	}
	return rawjson.Splice(nil, params, rawjson.Edit{Span: at, New: rawjson.Quote(nil, name)})
}

// covers reports whether a URI is another one or below it.
func covers(whole, uri string) bool {
	rest, ok := strings.CutPrefix(uri, whole)
	if !ok || rest == "" {
		return ok
	}
	return strings.HasSuffix(whole, "/") || strings.ContainsRune("/?#", rune(rest[0]))
}

// SubscribeClient serves resources/subscribe: a session's subscription to a
// resource by the URI that the client knows.
func (h *Hub) SubscribeClient(ctx context.Context, from *upstream.Caller, uri string) error {
	client := from.Client
	if client == nil {
		return &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "a subscription needs a session: send initialize first"}
	}
	h.mu.Lock()
	_, have := h.watches[client][uri]
	full := len(h.watches[client]) >= MaxWatched
	h.mu.Unlock()
	switch {
	case have:
		return nil
	case full:
		return upstream.Invalid("this session has subscribed to %d resources already", MaxWatched)
	}
	stop, err := h.follow(ctx, from, client, uri)
	if err != nil {
		return err
	}
	h.mu.Lock()
	_, have = h.watches[client][uri]
	keep := !have && !client.State.Ended.Load() // else ForgetClient has been here
	if keep {
		if h.watches[client] == nil {
			h.watches[client] = map[string]func(){}
		}
		h.watches[client][uri] = stop
	}
	h.mu.Unlock()
	if !keep {
		stop()
	}
	return nil
}

// UnsubscribeClient serves resources/unsubscribe. It is no error to have no
// subscription.
func (h *Hub) UnsubscribeClient(client *upstream.Client, uri string) {
	h.mu.Lock()
	stop := h.watches[client][uri]
	delete(h.watches[client], uri)
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// ForgetClient ends the subscriptions of a client whose session is over.
func (h *Hub) ForgetClient(client *upstream.Client) {
	h.mu.Lock()
	all := h.watches[client]
	delete(h.watches, client)
	h.mu.Unlock()
	for _, stop := range all {
		stop()
	}
}

// Replaced moves the subscriptions at a backend to its successor, which is connected
// in the background; without one they end, and can be made again.
func (h *Hub) Replaced(b, successor *upstream.Backend) {
	var ended []*Subscription
	var moved []*upstream.Slot
	goTo := h.successors(b, successor)
	h.mu.Lock()
	for l, to := range goTo { // what is subscribed after that finds out itself, see reclaim
		for _, w := range h.slots[l] {
			for s := range w.subs {
				h.take(s)
				if to == nil {
					ended = append(ended, s)
					continue
				}
				h.put(to, s).missed = true
				moved = append(moved, to)
			}
		}
		delete(h.slots, l)
	}
	for _, s := range ended {
		delete(h.watches[s.client], s.URI)
	}
	h.mu.Unlock()
	for _, to := range moved {
		to.Start()
	}
}

// successors returns the slots of a backend over which something is subscribed, with
// those that take their places, nil for none. It holds no lock while it asks for these.
func (h *Hub) successors(b, successor *upstream.Backend) map[*upstream.Slot]*upstream.Slot {
	goTo := map[*upstream.Slot]*upstream.Slot{}
	h.mu.Lock()
	for l := range h.slots {
		if l.Backend == b {
			goTo[l] = nil
		}
	}
	h.mu.Unlock()
	if successor == nil {
		return goTo
	}
	for l := range goTo {
		goTo[l] = successor.Successor(l)
	}
	return goTo
}

// reclaim removes a subscription that was made at a backend after the others had
// moved to its successor; false where it has moved with them.
func (h *Hub) reclaim(s *Subscription, b *upstream.Backend) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := s.watched
	if w != nil && w.slot.Backend != b {
		return false
	}
	if w != nil {
		h.take(s)
		h.forget(w)
	}
	return true
}

// Slots returns how many slots are kept open for subscriptions.
func (h *Hub) Slots() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.slots)
}
