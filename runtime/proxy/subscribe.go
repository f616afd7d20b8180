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
)

// changeKinds are the lists whose changes a client wants to be told of.
type changeKinds struct{ tools, prompts, resources bool }

// with gives the lists that are among either.
func (k changeKinds) with(o changeKinds) changeKinds {
	return changeKinds{k.tools || o.tools, k.prompts || o.prompts, k.resources || o.resources}
}

// has tells whether a list_changed notification is among them.
func (k changeKinds) has(method string) bool {
	switch method {
	case tools.listing().changed:
		return k.tools
	case prompts.listing().changed:
		return k.prompts
	case resources.listing().changed:
		return k.resources
	}
	return false
}

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
func (p *Proxy) subscribe(ctx context.Context, from *caller, l listener, f filter) (honoured filter, stop func(), err error) {
	honoured.changeKinds = f.changeKinds
	stops := []func(){p.listenFor(l, f.changeKinds)}
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
			each[i], failures[i] = p.follow(ctx, from, l, uri)
		})
	}
	wg.Wait()
	var following func()
	honoured.tasks, following = p.followTasks(ctx, from, l, f.tasks)
	stops = append(stops, following)
	for i, s := range each {
		switch {
		case s != nil:
			stops = append(stops, s)
			honoured.uris = append(honoured.uris, f.uris[i])
		case failures[i] != nil:
			p.log.Debug("no word of a resource's changes", "uri", f.uris[i], "err", failures[i])
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
func (p *Proxy) follow(ctx context.Context, from *caller, l listener, uri string) (stop func(), err error) {
	return anew(func() (func(), error) { return p.followOnce(ctx, from, l, uri) })
}

func (p *Proxy) followOnce(ctx context.Context, from *caller, l listener, uri string) (stop func(), err error) {
	to, err := p.resolveURI(ctx, uri)
	if err != nil {
		return nil, err
	}
	stop, err = p.followThere(ctx, from, l, uri, to)
	if errors.Is(err, runtime.ErrNotSent) && errors.Is(err, runtime.ErrClosed) {
		return p.followThere(ctx, from, l, uri, to) // it was just closed as idle, or has ended
	}
	return stop, err
}

// followThere is follow where the way is known.
func (p *Proxy) followThere(ctx context.Context, from *caller, l listener, uri string, to *route) (stop func(), err error) {
	b := to.b
	if _, err := b.primary.acquire(ctx); err != nil {
		return nil, &backendError{server: b.name, err: err}
	}
	// Where the client's calls go: a server may tell of a change only the session
	// that has made it.
	link := b.pick(from)
	if link.exclusive {
		b.giveBack(link)
		link = b.primary
	}
	c, err := link.acquire(ctx)
	if err != nil {
		return nil, &backendError{server: b.name, err: err}
	}
	if !c.tellsOfResources() {
		return nil, invalid("server %s does not tell when its resources change", b.name)
	}
	s := &subscription{l: l, who: from.peer, uri: uri, bare: to.bare, wrapped: to.wrapped}
	if err := p.hub.add(ctx, c, s); err != nil {
		return nil, err
	}
	if b.hasLeft() && p.hub.strayed(s, b) {
		return nil, errLeft
	}
	return func() { p.hub.remove(p, s) }, nil
}

// tellsOfResources tells whether the server takes subscriptions.
func (c *connection) tellsOfResources() bool {
	var offers struct {
		Resources struct {
			Subscribe bool `json:"subscribe"`
		} `json:"resources"`
	}
	return json.Unmarshal(c.client.Info().Capabilities, &offers) == nil && offers.Resources.Subscribe
}

// subscription is one client's wish to be told of one resource.
type subscription struct {
	l         listener
	who       *peer  // nil for a client without a session
	uri, bare string // what the client calls it, and what the server does
	wrapped   bool
	watched   *watched // guarded by hub.mu
}

// watched is a resource that a server is to tell of over one link.
type watched struct {
	link *link
	bare string
	turn chan struct{} // one place: who tells the server

	subs   map[*subscription]struct{} // guarded by hub.mu
	missed bool                       // changes may have been missed already; guarded by hub.mu
	told   *connection                // that the server was told over; the turn's holder's alone
}

// hub is who wants to know of which resource: counted by link and URI, so that a
// server is told once. The zero value is ready. No lock of another kind is
// taken under its own.
type hub struct {
	mu sync.Mutex // guards m and what it holds
	m  map[*link]map[string]*watched
}

// put files a subscription under a link. The caller holds the lock.
func (h *hub) put(l *link, s *subscription) *watched {
	if h.m == nil {
		h.m = map[*link]map[string]*watched{}
	}
	if h.m[l] == nil {
		h.m[l] = map[string]*watched{}
	}
	w := h.m[l][s.bare]
	if w == nil {
		w = &watched{link: l, bare: s.bare, turn: make(chan struct{}, 1), subs: map[*subscription]struct{}{}}
		h.m[l][s.bare] = w
	}
	w.subs[s] = struct{}{}
	s.watched = w
	return w
}

// take removes a subscription and gives where it was, nil where it was nowhere.
// The caller holds the lock.
func (h *hub) take(s *subscription) *watched {
	w := s.watched
	if w != nil {
		delete(w.subs, s)
		s.watched = nil
	}
	return w
}

// add subscribes over a connection and waits until the server has agreed.
func (h *hub) add(ctx context.Context, c *connection, s *subscription) error {
	h.mu.Lock()
	w := h.put(c.link, s)
	h.mu.Unlock()
	_, err := h.settle(ctx, w, c)
	if err != nil {
		h.remove(c.link.b.p, s)
	}
	return err
}

// remove ends a subscription; the server is told in the background.
func (h *hub) remove(p *Proxy, s *subscription) {
	h.mu.Lock()
	w := h.take(s)
	h.mu.Unlock()
	if w != nil {
		h.later(p, w)
	}
}

// later settles what a server is to tell of, in the background.
func (h *hub) later(p *Proxy, w *watched) {
	if p.lifetime.Err() != nil {
		return
	}
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(p.lifetime, tellTime)
		defer cancel()
		c := w.link.ready.Load()
		if c == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.forget(w)
			return
		}
		if _, err := h.settle(ctx, w, c); err != nil {
			p.log.Debug("backend takes no subscription", "server", w.link.b.name, "uri", w.bare, "err", err)
		}
	})
}

// settle makes what the server was told what it is to be told, one at a time. It
// tells whether the server has been told anew what was told another connection.
func (h *hub) settle(ctx context.Context, w *watched, c *connection) (again bool, err error) {
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
	method := "resources/unsubscribe"
	if wanted {
		method = "resources/subscribe"
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
func (h *hub) forget(w *watched) {
	if len(w.subs) > 0 || h.m[w.link][w.bare] != w {
		return
	}
	delete(h.m[w.link], w.bare)
	if len(h.m[w.link]) == 0 {
		delete(h.m, w.link)
	}
}

// uses tells whether anybody wants to be told of resources over a link.
func (h *hub) uses(l *link) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.m[l] {
		if len(w.subs) > 0 {
			return true
		}
	}
	return false
}

// restore subscribes anew over a connection that was made just now. Whoever was
// subscribed before has missed what came in between, and is told so.
func (h *hub) restore(ctx context.Context, c *connection) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.m[c.link]))
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
				c.link.b.p.log.Warn("subscription is lost", "server", c.link.b.name, "uri", w.bare, "err", err)
			}
			if !missed {
				return
			}
			h.tell(c.link, w.bare, append(rawjson.Quote([]byte(`{"uri":`), w.bare), '}'))
		})
	}
	wg.Wait()
}

// move takes a client's subscriptions at a backend over to another link: from
// now on its calls go there, and with them the changes that they cause.
func (h *hub) move(who *peer, l *link) {
	h.mu.Lock()
	var from, to []*watched
	for other, all := range h.m {
		if other == l || other.b != l.b {
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
		h.later(l.b.p, w) // where it is not connected yet, connecting settles it
	}
}

// updated passes on that a resource has changed.
func (h *hub) updated(l *link, params json.RawMessage) {
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
func (h *hub) tell(l *link, uri string, params json.RawMessage) {
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
				out[s.l] = news{len(bare), s.exposed(l.b, uri, params)}
			}
		}
	}
	h.mu.Unlock()
	for to, n := range out {
		to.notify("notifications/resources/updated", n.params)
	}
}

// exposed gives the params of an update with the URI that the client knows.
func (s *subscription) exposed(b *backend, uri string, params []byte) []byte {
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

// watch serves resources/subscribe.
func (p *Proxy) watch(ctx context.Context, r request) ([]byte, error) {
	uri, ok := rawjson.String(r.line, r.msg.URI)
	if !ok {
		return nil, invalid("params.uri is missing or no string")
	}
	who := r.from.peer
	if who == nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidRequest, Message: "a subscription needs a session: send initialize first"}
	}
	o := &who.belongings
	o.mu.Lock()
	_, have := o.watches[uri]
	full := len(o.watches) >= maxWatched
	o.mu.Unlock()
	switch {
	case have:
		return []byte(`{}`), nil
	case full:
		return nil, invalid("this session has subscribed to %d resources already", maxWatched)
	}
	stop, err := p.follow(ctx, &r.from, who, uri)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	_, have = o.watches[uri]
	keep := !have && !o.ended.Load()
	if keep {
		if o.watches == nil {
			o.watches = map[string]func(){}
		}
		o.watches[uri] = stop
	}
	o.mu.Unlock()
	if !keep {
		stop()
	}
	return []byte(`{}`), nil
}

// unwatch serves resources/unsubscribe; there is nothing wrong with one that has
// no subscription.
func (p *Proxy) unwatch(r request) ([]byte, error) {
	uri, ok := rawjson.String(r.line, r.msg.URI)
	if !ok {
		return nil, invalid("params.uri is missing or no string")
	}
	if who := r.from.peer; who != nil {
		o := &who.belongings
		o.mu.Lock()
		stop := o.watches[uri]
		delete(o.watches, uri)
		o.mu.Unlock()
		if stop != nil {
			stop()
		}
	}
	return []byte(`{}`), nil
}
