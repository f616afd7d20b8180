package proxy

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
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// filter is what a client wants to be told of (2026-07-28, Subscriptions): the
// changes of lists, and of resources by the URIs that it knows them by.
type filter struct {
	changeKinds
	uris  []string
	tasks []string // ids as clients know them
}

// subscribe has a listener told of what a filter names, as plain notifications,
// from now until stop: what a stream adds to them is the stream's to add. The
// honoured part of the filter is what will be told; URIs that no server has, or
// whose server does not tell of changes, are left out, in the order given. It
// waits for the servers of the URIs, and fails only with ctx. stop does not
// wait.
func (h *Hub) subscribe(ctx context.Context, from *Origin, l listener, f filter) (honoured filter, stop func(), err error) {
	honoured.changeKinds = f.changeKinds
	stops := []func(){h.catalog.listenFor(l, f.changeKinds)}
	stop = sync.OnceFunc(func() {
		for _, s := range stops {
			s()
		}
	})
	failures := make([]error, len(f.uris))
	each := make([]func(), len(f.uris))
	var wg sync.WaitGroup
	for i, uri := range f.uris {
		if slices.Contains(f.uris[:i], uri) {
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
			honoured.uris = append(honoured.uris, f.uris[i])
		case failures[i] != nil:
			h.set.log.Debug("no word of a resource's changes", "uri", f.uris[i], "err", failures[i])
		}
	}
	if err := ctx.Err(); err != nil {
		stop()
		return filter{}, nil, err
	}
	return honoured, stop, nil
}

// followTime is how long a server may take to agree to tell of a resource.
const followTime = 10 * time.Second

// follow subscribes to one resource.
func (h *Hub) follow(ctx context.Context, from *Origin, l listener, uri string) (stop func(), err error) {
	return retryReplaced(func() (func(), error) { return h.followOnce(ctx, from, l, uri) })
}

func (h *Hub) followOnce(ctx context.Context, from *Origin, l listener, uri string) (stop func(), err error) {
	to, err := h.catalog.resolveURI(ctx, uri)
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
func (h *Hub) followThere(ctx context.Context, from *Origin, l listener, uri string, to *route) (stop func(), err error) {
	b := to.b
	if _, err := b.connect(ctx); err != nil {
		return nil, &backendError{server: b.name, err: err}
	}
	// Where the client's calls go: a server may tell of a change only the session
	// that has made it.
	link := b.selectSlot(from)
	if link.exclusive {
		b.release(link)
		link = b.primary
	}
	c, err := link.acquire(ctx)
	if err != nil {
		return nil, &backendError{server: b.name, err: err}
	}
	if !c.tellsOfResources() {
		return nil, invalid("server %s does not tell when its resources change", b.name)
	}
	s := &subscription{l: l, who: from.client, uri: uri, bare: to.bare, wrapped: to.wrapped}
	if err := h.add(ctx, c, s); err != nil {
		return nil, err
	}
	if b.isReplaced() && h.strayed(s, b) {
		return nil, errReplaced
	}
	return func() { h.remove(s) }, nil
}

// subscription is one client's wish to be told of one resource.
type subscription struct {
	l         listener
	who       *Client // nil for a client without a session
	uri, bare string  // what the client calls it, and what the server does
	wrapped   bool
	watched   *watched // guarded by hub.mu, as is release
	release   func()   // of what keeps the slot connected
}

// watched is a resource that a server is to tell of over one link.
type watched struct {
	link *Slot
	bare string
	turn chan struct{} // one place: who tells the server

	subs   map[*subscription]struct{} // guarded by hub.mu
	missed bool                       // changes may have been missed already; guarded by hub.mu
	told   *Conn                      // that the server was told over; the turn's holder's alone
}

// Hub is who wants to know of which resource: counted by slot and URI, so that a
// server is told once. All methods may be called concurrently.
type Hub struct {
	set     *Set
	catalog *Publisher
	unsent  *counter // of messages for clients
	tasks   followTasks

	mu sync.Mutex // guards what follows and what it holds; only that of a slot's keeps is taken under it
	m  map[*Slot]map[string]*watched
	// watches are the subscriptions of clients of the handshake era, by the URI that
	// the client named: they end them.
	watches map[*Client]map[string]func()
}

// followTasks has a listener told of tasks, from now until stop, and returns those of
// them that there are.
type followTasks func(ctx context.Context, from *Origin, l listener, ids []string) (honoured []string, stop func())

func newHub(set *Set, catalog *Publisher, unsent *counter, tasks followTasks) *Hub {
	return &Hub{set: set, catalog: catalog, unsent: unsent, tasks: tasks, m: map[*Slot]map[string]*watched{}, watches: map[*Client]map[string]func(){}}
}

// put files a subscription under a link. The caller holds the lock.
func (h *Hub) put(l *Slot, s *subscription) *watched {
	if h.m[l] == nil {
		h.m[l] = map[string]*watched{}
	}
	w := h.m[l][s.bare]
	if w == nil {
		w = &watched{link: l, bare: s.bare, turn: make(chan struct{}, 1), subs: map[*subscription]struct{}{}}
		h.m[l][s.bare] = w
	}
	w.subs[s] = struct{}{}
	s.watched, s.release = w, l.keep()
	return w
}

// take removes a subscription and gives where it was, nil where it was nowhere.
// The caller holds the lock.
func (h *Hub) take(s *subscription) *watched {
	w := s.watched
	if w != nil {
		delete(w.subs, s)
		s.release()
		s.watched = nil
	}
	return w
}

// add subscribes over a connection and waits until the server has agreed.
func (h *Hub) add(ctx context.Context, c *Conn, s *subscription) error {
	h.mu.Lock()
	w := h.put(c.slot, s)
	h.mu.Unlock()
	_, err := h.settle(ctx, w, c)
	if err != nil {
		h.remove(s)
	}
	return err
}

// remove ends a subscription; the server is told in the background.
func (h *Hub) remove(s *subscription) {
	h.mu.Lock()
	w := h.take(s)
	h.mu.Unlock()
	if w != nil {
		h.later(w)
	}
}

// later settles what a server is to tell of, in the background.
func (h *Hub) later(w *watched) {
	if h.set.lifetime.Err() != nil {
		return
	}
	h.set.work.Go(func() {
		ctx, cancel := context.WithTimeout(h.set.lifetime, tellTime)
		defer cancel()
		c := w.link.ready.Load()
		if c == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.forget(w)
			return
		}
		if _, err := h.settle(ctx, w, c); err != nil {
			w.link.backend.log.Debug("backend takes no subscription", "uri", w.bare, "err", err)
		}
	})
}

// settle makes what the server was told what it is to be told, one at a time. It
// tells whether the server has been told anew what was told another connection.
func (h *Hub) settle(ctx context.Context, w *watched, c *Conn) (again bool, err error) {
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
	_, err = c.client.Transport().Call(ctx, &runtime.Request{Method: method, Params: params})
	switch {
	case !wanted:
		w.told = nil // or it goes on telling nobody
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

// forget drops what nobody wants any more. The caller holds the lock.
func (h *Hub) forget(w *watched) {
	if len(w.subs) > 0 || h.m[w.link][w.bare] != w {
		return
	}
	delete(h.m[w.link], w.bare)
	if len(h.m[w.link]) == 0 {
		delete(h.m, w.link)
	}
}

// restore subscribes anew over a connection that was made just now. Whoever was
// subscribed before has missed what came in between, and is told so.
func (h *Hub) restore(ctx context.Context, c *Conn) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.m[c.slot]))
	h.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			missed, err := h.settle(ctx, w, c)
			if err != nil {
				c.slot.backend.log.Warn("subscription is lost", "uri", w.bare, "err", err)
			}
			if !missed {
				return
			}
			h.tell(c.slot, w.bare, append(rawjson.Quote([]byte(`{"uri":`), w.bare), '}'))
		})
	}
	wg.Wait()
}

// move takes a client's subscriptions at a backend over to another link: from
// now on its calls go there, and with them the changes that they cause.
func (h *Hub) move(who *Client, l *Slot) {
	h.mu.Lock()
	var from, to []*watched
	for other, all := range h.m {
		if other == l || other.backend != l.backend {
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
	h.mu.Unlock()
	for _, w := range append(from, to...) {
		h.later(w) // where it is not connected yet, connecting settles it
	}
}

// updated passes on that a resource has changed.
func (h *Hub) updated(l *Slot, params json.RawMessage) {
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
func (h *Hub) tell(l *Slot, uri string, params json.RawMessage) {
	type news struct {
		depth  int
		params []byte
	}
	out := map[listener]news{}
	h.mu.Lock()
	for bare, w := range h.m[l] {
		if !part(bare, uri) {
			continue
		}
		for s := range w.subs {
			if len(bare) >= out[s.l].depth {
				out[s.l] = news{len(bare), s.exposed(l.backend, uri, params)}
			}
		}
	}
	h.mu.Unlock()
	for to, n := range out {
		to.notify(revision.NotificationResourceUpdated, n.params)
	}
}

// exposed gives the params of an update with the URI that the client knows.
func (s *subscription) exposed(b *Backend, uri string, params []byte) []byte {
	name := uri
	switch {
	case uri == s.bare:
		name = s.uri
	case s.wrapped:
		name = wrapURI(b.name, uri)
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

// subscribeClient serves resources/subscribe: a session's subscription to a
// resource by the URI that the client knows.
func (h *Hub) subscribeClient(ctx context.Context, from *Origin, uri string) error {
	who := from.client
	if who == nil {
		return &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "a subscription needs a session: send initialize first"}
	}
	h.mu.Lock()
	_, have := h.watches[who][uri]
	full := len(h.watches[who]) >= maxWatched
	h.mu.Unlock()
	switch {
	case have:
		return nil
	case full:
		return invalid("this session has subscribed to %d resources already", maxWatched)
	}
	stop, err := h.follow(ctx, from, who, uri)
	if err != nil {
		return err
	}
	h.mu.Lock()
	_, have = h.watches[who][uri]
	keep := !have && !who.state.ended.Load() // else forgetClient has been here
	if keep {
		if h.watches[who] == nil {
			h.watches[who] = map[string]func(){}
		}
		h.watches[who][uri] = stop
	}
	h.mu.Unlock()
	if !keep {
		stop()
	}
	return nil
}

// unsubscribeClient serves resources/unsubscribe; there is nothing wrong with one
// that has no subscription.
func (h *Hub) unsubscribeClient(who *Client, uri string) {
	h.mu.Lock()
	stop := h.watches[who][uri]
	delete(h.watches[who], uri)
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// forgetClient ends the subscriptions of a client whose session is over.
func (h *Hub) forgetClient(who *Client) {
	h.mu.Lock()
	all := h.watches[who]
	delete(h.watches, who)
	h.mu.Unlock()
	for _, stop := range all {
		stop()
	}
}

// replaced takes the subscriptions at a backend over to its successor, which is
// connected in the background; without one they end, and can be made anew.
func (h *Hub) replaced(b, successor *Backend) {
	var ended []*subscription
	moved := false
	h.mu.Lock()
	for l, all := range h.m {
		if l.backend != b {
			continue
		}
		for _, w := range all {
			for s := range w.subs {
				h.take(s)
				if successor == nil {
					ended = append(ended, s)
					continue
				}
				h.put(successor.primary, s).missed = true
				moved = true
			}
		}
		delete(h.m, l)
	}
	for _, s := range ended {
		delete(h.watches[s.who], s.uri)
	}
	h.mu.Unlock()
	if moved {
		successor.start()
	}
}

// strayed takes a subscription back that was made at a backend after those it
// had went to its successor.
func (h *Hub) strayed(s *subscription, b *Backend) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := s.watched
	if w != nil && w.link.backend != b {
		return false // it went with them
	}
	if w != nil {
		h.take(s)
		h.forget(w)
	}
	return true
}
