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

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Filter is what a client wants to be told of (2026-07-28, Subscriptions): the
// changes of lists, and of resources by the URIs that it knows them by.
type Filter struct {
	inventory.ListSet
	URIs  []string
	tasks []string // ids as clients know them
}

// Subscribe has a listener told of what a filter names, as plain notifications,
// from now until stop: what a stream adds to them is the stream's to add. The
// honoured part of the filter is what will be told; URIs that no server has, or
// whose server does not tell of changes, are left out, in the order given. It
// waits for the servers of the URIs, and fails only with ctx. stop does not
// wait.
func (h *Hub) Subscribe(ctx context.Context, from *upstream.Origin, l catalog.Listener, f Filter) (honoured Filter, stop func(), err error) {
	honoured.ListSet = f.ListSet
	stops := []func(){h.catalog.ListenFor(l, f.ListSet)}
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
			ctx, cancel := context.WithTimeout(ctx, followTime) // one slow server is not to delay the others' word
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
			h.set.Log.Debug("no word of a resource's changes", "uri", f.URIs[i], "err", failures[i])
		}
	}
	if err := ctx.Err(); err != nil {
		stop()
		return Filter{}, nil, err
	}
	return honoured, stop, nil
}

// followTime is how long a server may take to agree to tell of a resource.
const followTime = 10 * time.Second

// follow subscribes to one resource.
func (h *Hub) follow(ctx context.Context, from *upstream.Origin, l catalog.Listener, uri string) (stop func(), err error) {
	return upstream.RetryReplaced(func() (func(), error) { return h.followOnce(ctx, from, l, uri) })
}

func (h *Hub) followOnce(ctx context.Context, from *upstream.Origin, l catalog.Listener, uri string) (stop func(), err error) {
	to, err := h.catalog.ResolveURI(ctx, uri)
	if err != nil {
		return nil, err
	}
	stop, err = h.followThere(ctx, from, l, uri, to)
	if errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed) {
		return h.followThere(ctx, from, l, uri, to) // it was just closed as idle, or has ended
	}
	return stop, err
}

// followThere is follow where the way is known.
func (h *Hub) followThere(ctx context.Context, from *upstream.Origin, l catalog.Listener, uri string, to *catalog.Route) (stop func(), err error) {
	b := to.Backend
	if _, err := b.Connect(ctx); err != nil {
		return nil, &upstream.Error{Server: b.Name, Err: err}
	}
	// Where the client's calls go: a server may tell of a change only the session
	// that has made it.
	link := b.SelectSlot(from)
	if link.Exclusive {
		b.Release(link)
		link = b.Primary
	}
	c, err := link.Acquire(ctx)
	if err != nil {
		return nil, &upstream.Error{Server: b.Name, Err: err}
	}
	if !c.TakesSubscriptions() {
		return nil, upstream.Invalid("server %s does not tell when its resources change", b.Name)
	}
	s := &Subscription{Listener: l, who: from.Client, Uri: uri, Bare: to.Bare, wrapped: to.Wrapped}
	if err := h.Add(ctx, c, s); err != nil {
		return nil, err
	}
	if b.IsReplaced() && h.strayed(s, b) {
		return nil, upstream.ErrReplaced
	}
	return func() { h.Remove(s) }, nil
}

// Subscription is one client's wish to be told of one resource.
type Subscription struct {
	Listener  catalog.Listener
	who       *upstream.Client // nil for a client without a session
	Uri, Bare string           // what the client calls it, and what the server does
	wrapped   bool
	watched   *watched // guarded by hub.mu, as is release
	release   func()   // of what keeps the slot connected
}

// watched is a resource that a server is to tell of over one link.
type watched struct {
	link *upstream.Slot
	bare string
	turn chan struct{} // one place: who tells the server

	subs   map[*Subscription]struct{} // guarded by hub.mu
	missed bool                       // changes may have been missed already; guarded by hub.mu
	told   *upstream.Conn             // that the server was told over; the turn's holder's alone
}

// Hub is who wants to know of which resource: counted by slot and URI, so that a
// server is told once. All methods may be called concurrently.
type Hub struct {
	set     *upstream.Set
	catalog *catalog.Publisher
	unsent  *limits.Counter // of messages for clients
	tasks   followTasks

	Mu    sync.Mutex // guards what follows and what it holds; only that of a slot's keeps is taken under it
	slots map[*upstream.Slot]map[string]*watched
	// Watches are the subscriptions of clients of the handshake era, by the URI that
	// the client named: they end them.
	Watches map[*upstream.Client]map[string]func()
}

// followTasks has a listener told of tasks, from now until stop, and returns those of
// them that there are.
type followTasks func(ctx context.Context, from *upstream.Origin, l catalog.Listener, ids []string) (honoured []string, stop func())

func NewHub(set *upstream.Set, catalog *catalog.Publisher, unsent *limits.Counter, tasks followTasks) *Hub {
	return &Hub{set: set, catalog: catalog, unsent: unsent, tasks: tasks, slots: map[*upstream.Slot]map[string]*watched{}, Watches: map[*upstream.Client]map[string]func(){}}
}

// put files a subscription under a link. The caller holds the lock.
func (h *Hub) put(l *upstream.Slot, s *Subscription) *watched {
	if h.slots[l] == nil {
		h.slots[l] = map[string]*watched{}
	}
	w := h.slots[l][s.Bare]
	if w == nil {
		w = &watched{link: l, bare: s.Bare, turn: make(chan struct{}, 1), subs: map[*Subscription]struct{}{}}
		h.slots[l][s.Bare] = w
	}
	w.subs[s] = struct{}{}
	s.watched, s.release = w, l.Keep()
	return w
}

// take removes a subscription and gives where it was, nil where it was nowhere.
// The caller holds the lock.
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
	h.Mu.Lock()
	w := h.put(c.Slot, s)
	h.Mu.Unlock()
	_, err := h.settle(ctx, w, c)
	if err != nil {
		h.Remove(s)
	}
	return err
}

// Remove ends a subscription; the server is told in the background.
func (h *Hub) Remove(s *Subscription) {
	h.Mu.Lock()
	w := h.take(s)
	h.Mu.Unlock()
	if w != nil {
		h.later(w)
	}
}

// later settles what a server is to tell of, in the background.
func (h *Hub) later(w *watched) {
	if h.set.Lifetime.Err() != nil {
		return
	}
	h.set.Work.Go(func() {
		ctx, cancel := context.WithTimeout(h.set.Lifetime, limits.TellTime)
		defer cancel()
		c := w.link.Ready.Load()
		if c == nil {
			h.Mu.Lock()
			defer h.Mu.Unlock()
			h.forget(w)
			return
		}
		if _, err := h.settle(ctx, w, c); err != nil {
			w.link.Backend.Log.Debug("backend takes no subscription", "uri", w.bare, "err", err)
		}
	})
}

// settle makes what the server was told what it is to be told, one at a time. It
// tells whether the server has been told anew what was told another connection.
func (h *Hub) settle(ctx context.Context, w *watched, c *upstream.Conn) (again bool, err error) {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-w.turn }()
	h.Mu.Lock()
	wanted := len(w.subs) > 0
	if w.told != c {
		h.forget(w)
	}
	h.Mu.Unlock()
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
		w.told = nil // or it goes on telling nobody
		h.Mu.Lock()
		defer h.Mu.Unlock()
		h.forget(w)
	case err == nil:
		h.Mu.Lock()
		again = w.told != nil || w.missed
		w.missed = false
		h.Mu.Unlock()
		w.told = c
	}
	return again, err
}

// forget drops what nobody wants any more. The caller holds the lock.
func (h *Hub) forget(w *watched) {
	if len(w.subs) > 0 || h.slots[w.link][w.bare] != w {
		return
	}
	delete(h.slots[w.link], w.bare)
	if len(h.slots[w.link]) == 0 {
		delete(h.slots, w.link)
	}
}

// Restore subscribes anew over a connection that was made just now. Whoever was
// subscribed before has missed what came in between, and is told so.
func (h *Hub) Restore(ctx context.Context, c *upstream.Conn) {
	h.Mu.Lock()
	all := slices.Collect(maps.Values(h.slots[c.Slot]))
	h.Mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limits.TellTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			missed, err := h.settle(ctx, w, c)
			if err != nil {
				c.Slot.Backend.Log.Warn("subscription is lost", "uri", w.bare, "err", err)
			}
			if !missed {
				return
			}
			h.tell(c.Slot, w.bare, append(rawjson.Quote([]byte(`{"uri":`), w.bare), '}'))
		})
	}
	wg.Wait()
}

// Move takes a client's subscriptions at a backend over to another link: from
// now on its calls go there, and with them the changes that they cause.
func (h *Hub) Move(who *upstream.Client, l *upstream.Slot) {
	h.Mu.Lock()
	var from, to []*watched
	for other, all := range h.slots {
		if other == l || other.Backend != l.Backend {
			continue
		}
		for _, w := range all {
			for s := range w.subs {
				if s.who == who {
					from = append(from, h.take(s))
					to = append(to, h.put(l, s))
				}
			}
		}
	}
	h.Mu.Unlock()
	for _, w := range append(from, to...) {
		h.later(w) // where it is not connected yet, connecting settles it
	}
}

// Updated passes on that a resource has changed.
func (h *Hub) Updated(l *upstream.Slot, params json.RawMessage) {
	at, err := rawjson.Field(params, "uri")
	if err != nil {
		return
	}
	if uri, ok := rawjson.String(params, at); ok {
		h.tell(l, uri, params)
	}
}

// tell sends the news of a resource to those who have subscribed to it, or to
// what it is a part of: "the URI ... might be a sub-resource of the one that the
// client actually subscribed to" (2025-11-25, Resources). A listener is told
// once, by the nearest of its subscriptions.
func (h *Hub) tell(l *upstream.Slot, uri string, params json.RawMessage) {
	type news struct {
		depth  int
		params []byte
	}
	out := map[catalog.Listener]news{}
	h.Mu.Lock()
	for bare, w := range h.slots[l] {
		if !part(bare, uri) {
			continue
		}
		for s := range w.subs {
			if len(bare) >= out[s.Listener].depth {
				out[s.Listener] = news{len(bare), s.exposed(l.Backend, uri, params)}
			}
		}
	}
	h.Mu.Unlock()
	for to, n := range out {
		to.Notify(revision.NotificationResourceUpdated, n.params)
	}
}

// exposed gives the params of an update with the URI that the client knows.
func (s *Subscription) exposed(b *upstream.Backend, uri string, params []byte) []byte {
	name := uri
	switch {
	case uri == s.Bare:
		name = s.Uri
	case s.wrapped:
		name = catalog.WrapURI(b.Name, uri)
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

// part tells whether a URI is another one or below it.
func part(whole, uri string) bool {
	rest, ok := strings.CutPrefix(uri, whole)
	if !ok || rest == "" {
		return ok
	}
	return strings.HasSuffix(whole, "/") || strings.ContainsRune("/?#", rune(rest[0]))
}

// SubscribeClient serves resources/subscribe: a session's subscription to a
// resource by the URI that the client knows.
func (h *Hub) SubscribeClient(ctx context.Context, from *upstream.Origin, uri string) error {
	who := from.Client
	if who == nil {
		return &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "a subscription needs a session: send initialize first"}
	}
	h.Mu.Lock()
	_, have := h.Watches[who][uri]
	full := len(h.Watches[who]) >= MaxWatched
	h.Mu.Unlock()
	switch {
	case have:
		return nil
	case full:
		return upstream.Invalid("this session has subscribed to %d resources already", MaxWatched)
	}
	stop, err := h.follow(ctx, from, who, uri)
	if err != nil {
		return err
	}
	h.Mu.Lock()
	_, have = h.Watches[who][uri]
	keep := !have && !who.State.Ended.Load() // else forgetClient has been here
	if keep {
		if h.Watches[who] == nil {
			h.Watches[who] = map[string]func(){}
		}
		h.Watches[who][uri] = stop
	}
	h.Mu.Unlock()
	if !keep {
		stop()
	}
	return nil
}

// UnsubscribeClient serves resources/unsubscribe; there is nothing wrong with one
// that has no subscription.
func (h *Hub) UnsubscribeClient(who *upstream.Client, uri string) {
	h.Mu.Lock()
	stop := h.Watches[who][uri]
	delete(h.Watches[who], uri)
	h.Mu.Unlock()
	if stop != nil {
		stop()
	}
}

// ForgetClient ends the subscriptions of a client whose session is over.
func (h *Hub) ForgetClient(who *upstream.Client) {
	h.Mu.Lock()
	all := h.Watches[who]
	delete(h.Watches, who)
	h.Mu.Unlock()
	for _, stop := range all {
		stop()
	}
}

// Replaced takes the subscriptions at a backend over to its successor, which is
// connected in the background; without one they end, and can be made anew.
func (h *Hub) Replaced(b, successor *upstream.Backend) {
	var ended []*Subscription
	moved := false
	h.Mu.Lock()
	for l, all := range h.slots {
		if l.Backend != b {
			continue
		}
		for _, w := range all {
			for s := range w.subs {
				h.take(s)
				if successor == nil {
					ended = append(ended, s)
					continue
				}
				h.put(successor.Primary, s).missed = true
				moved = true
			}
		}
		delete(h.slots, l)
	}
	for _, s := range ended {
		delete(h.Watches[s.who], s.Uri)
	}
	h.Mu.Unlock()
	if moved {
		successor.Start()
	}
}

// strayed takes a subscription back that was made at a backend after those it
// had went to its successor.
func (h *Hub) strayed(s *Subscription, b *upstream.Backend) bool {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	w := s.watched
	if w != nil && w.link.Backend != b {
		return false // it went with them
	}
	if w != nil {
		h.take(s)
		h.forget(w)
	}
	return true
}

// Slots returns how many slots are kept open for subscriptions.
func (h *Hub) Slots() int {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	return len(h.slots)
}
