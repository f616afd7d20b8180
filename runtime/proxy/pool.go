package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/ability"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const (
	// maxLinks bounds the connections of a backend besides the shared ones.
	// Beyond it one that is idle makes room, else callers share, and questions
	// that cannot be told to belong to one of them are refused.
	maxLinks = 16
)

// sharedOffer is what a connection declares that any client may come to use:
// all that we can carry. What a server asks goes by what its caller has
// declared.
const sharedOffer = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},` +
	`"extensions":{"` + revision.ExtensionUI + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// acquire gives the connection that a client's request takes. done is called
// when the request has ended.
func (b *backend) acquire(ctx context.Context, from *caller) (_ *connection, done func(), _ error) {
	if !b.met.Load() {
		// The primary connection tells the era, and what there is to ask for.
		if _, err := b.primary.acquire(ctx); err != nil {
			return nil, nil, err
		}
	}
	for again := true; ; again = false {
		if from.home != nil && again {
			c, err := from.home.acquire(ctx)
			if !errors.Is(err, errLinkClosed) {
				return c, func() {}, err
			}
			continue
		}
		l := b.pick(from)
		c, err := l.acquire(ctx)
		switch {
		case err == nil && l.exclusive:
			return c, func() { b.giveBack(l) }, nil
		case err == nil && again && l.key.Legacy && !b.speaksBoth():
			continue // its handshake has shown to lead nowhere
		case err == nil:
			return c, func() {}, nil
		case l.exclusive:
			b.giveBack(l)
		}
		if again && errors.Is(err, errLinkClosed) {
			continue
		}
		if shared := b.instead(from, l); shared != nil && ctx.Err() == nil {
			if c, shared := shared.acquire(ctx); shared == nil {
				return c, func() {}, nil
			}
		}
		return nil, nil, err
	}
}

// instead gives the shared link for a client whose own cannot be connected, nil
// where it must not be used: some programs run once only.
func (b *backend) instead(from *caller, l *link) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, _ := b.shared(from)
	if shared == l || b.set().Isolation != isolationAuto || b.closed {
		return nil
	}
	return shared
}

// shared gives the link that clients of the caller's era share, and whether it
// prefers the handshake. The caller holds the lock.
func (b *backend) shared(from *caller) (_ *link, legacy bool) {
	if b.dual && !from.modern() {
		return b.at(key{Server: b.name, Legacy: true, Capabilities: sharedOffer}, nil), true
	}
	return b.primary, false
}

func (b *backend) giveBack(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.taken = false
	l.used = time.Now()
}

// pick chooses the link for a client's request. A private one is remembered
// with the client, where the quick path finds it.
func (b *backend) pick(from *caller) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, legacy := b.shared(from)
	if from.peer != nil && from.peer.belongings.ended.Load() {
		return shared // nobody would close what is its own
	}
	private := b.set().Isolation == isolationSession && from.peer != nil
	asked := b.asks && (legacy || !b.modern) && b.set().Isolation != isolationShared && b.set().Isolation != isolationPrincipal
	// A connection that costs no process tells the server the truth: some go by
	// what a client has declared without ever asking. Sessions are told apart
	// when there is more to it than that.
	truth := b.remote && from.modern() && b.set().Isolation == isolationAuto
	if !private && !asked && !truth {
		return shared
	}
	to := revision.Latest
	if b.modern && !legacy {
		to = revision.Modern
	}
	offer := string(revision.Offer(from.capabilities, from.version, to))
	if offer == sharedOffer && !private && !asked {
		return shared
	}
	if c := shared.ready.Load(); from.peer != nil && !private && c != nil && c.kept && c.user.Load() == from.peer {
		b.lead(from.peer, shared)
		return shared
	}
	key := key{Server: b.name, Legacy: legacy, Capabilities: string(b.p.withRoots(json.RawMessage(offer)))}
	var l *link
	switch {
	case from.peer != nil && (private || offer != "{}"):
		key.Scope = scopeSession + from.peer.id
		l = b.at(key, from.peer)
	case offer == "{}" || !b.untold:
		l = b.at(key, nil)
	default:
		l = b.single(key)
	}
	if l == nil {
		return shared // there are too many already
	}
	if b.set().Isolation == isolationAuto && l.failures > 0 && time.Now().Before(l.retryAt) {
		l.taken = false
		return shared // see instead
	}
	l.used = time.Now()
	if from.peer != nil {
		b.lead(from.peer, l)
	}
	return l
}

// lead has a client's calls and subscriptions go over a link from now on. The
// caller holds the lock.
func (b *backend) lead(who *peer, l *link) {
	if who.belongings.lead(b, l) {
		b.p.observer.moved(who, l)
	}
}

// Beginnings of [Key.Scope].
const (
	scopeSession = "session "
	scopeCall    = "call "
)

// at gives the link with a key, nil where there are too many to make one. The
// caller holds the lock.
func (b *backend) at(key key, owner *peer) *link {
	if l := b.links[key]; l != nil {
		return l
	}
	if !key.everybodys() && !b.room() {
		return nil
	}
	l := &link{b: b, key: key, owner: owner}
	b.links[key] = l
	b.p.watchIdle()
	return l
}

// single gives a link that nobody else uses until it is given back, nil where
// there are too many. The caller holds the lock.
func (b *backend) single(key key) *link {
	for k, l := range b.links {
		if l.exclusive && !l.taken && k.Capabilities == key.Capabilities && k.Legacy == key.Legacy {
			l.taken = true
			return l
		}
	}
	b.singles++
	key.Scope = scopeCall + strconv.FormatUint(b.singles, 10)
	l := b.at(key, nil)
	if l != nil {
		l.exclusive, l.taken = true, true
	}
	return l
}

// everybodys tells whether a connection is that which clients of an era share.
func (k key) everybodys() bool { return k.Capabilities == sharedOffer && k.Scope == "" }

// room tells whether one more link may be made, closing one that is idle where
// there are too many. The caller holds the lock.
func (b *backend) room() bool {
	n, now := 0, time.Now()
	var idle *link
	for k, l := range b.links {
		if k.everybodys() {
			continue
		}
		n++
		if now.Sub(l.lastUse()) > yieldIdle && !l.needed(now) && (idle == nil || l.used.Before(idle.used)) {
			idle = l
		}
	}
	if n < maxLinks {
		return true
	}
	if idle == nil {
		return false
	}
	idle.reap()
	return idle.closed
}

// lastUse is when the link was last seen in use. The caller holds the lock.
func (l *link) lastUse() time.Time {
	if c := l.ready.Load(); c != nil {
		if n := c.counted(); n != l.begun {
			l.begun, l.used = n, time.Now()
		}
	}
	return l.used
}

// shut closes a link for good and forgets it. The caller holds the lock.
func (b *backend) shut(l *link) {
	if l.closed {
		return
	}
	l.closed = true
	delete(b.links, l.key)
	c := l.ready.Swap(nil)
	b.expose()
	if c != nil && !b.closed {
		b.p.work.Go(func() { _ = c.client.Close() })
	}
}

// leave closes what was a client's own.
func (b *backend) leave(who *peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, l := range b.links {
		if l.owner == who && strings.HasPrefix(k.Scope, scopeSession) {
			b.shut(l)
		}
	}
}

// settled notes what a new connection tells of the server's era. The caller
// holds the lock.
func (b *backend) settled(c *connection) {
	if c.link == b.primary {
		legacy := false
		for _, v := range c.client.Info().Versions {
			legacy = legacy || !revision.IsModern(v)
		}
		b.modern = c.modern()
		b.remote = !b.modern && c.pipe == nil
		b.dual = b.modern && legacy
	} else if c.link.key.Legacy && sessionless(c.client.Transport()) {
		// Such a server can neither ask in the client's era nor be told of a
		// cancel: the stateless era has all that it has, and these.
		b.log.Info("backend keeps no session after a handshake: its other era is used")
		b.dual = false
	}
	b.expose()
}

// speaksBoth tells whether clients of the handshake era are better served in
// their own.
func (b *backend) speaksBoth() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dual
}

// sessionless tells whether a connection over HTTP that began with a handshake
// has no session.
func sessionless(t runtime.Transport) bool {
	for range 4 { // wrappers
		if s, ok := t.(ability.SessionID); ok {
			return s.SessionID() == ""
		}
		u, ok := t.(ability.Unwrap)
		if !ok {
			return false
		}
		t = u.Unwrap()
	}
	return false
}

// asked notes that the server has asked a client something over a connection
// that it may share with others; untold tells that nothing says to which call
// the question belongs. A session that has used the connection alone so far
// keeps it, with the state that the server has for it. What is noted is kept for
// processes to come, where there is a store.
func (b *backend) asked(c *connection, untold bool) {
	if c.modern() {
		return // its questions are answers to calls
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asks {
		b.log.Info("backend asks its clients")
	}
	b.asks, b.untold = true, b.untold || untold
	c.kept = c.kept || c.sole() != nil
	b.expose()
}

// expose tells the quick path over which connection all clients of the handshake
// era go; nil: pick decides. The caller holds the lock.
func (b *backend) expose() {
	var c *connection
	l := b.primary
	if b.dual {
		l = b.links[key{Server: b.name, Legacy: true, Capabilities: sharedOffer}]
	}
	private := b.set().Isolation == isolationSession || b.set().Isolation == isolationAuto && b.asks && (b.dual || !b.modern)
	if l != nil && !private {
		c = l.ready.Load()
	}
	b.common.Store(c)
	// See pick, for a caller of the modern era.
	if c = b.primary.ready.Load(); c != nil &&
		(!c.quick || b.asks && (b.set().Isolation == isolationAuto || b.set().Isolation == isolationSession)) {
		c = nil
	}
	b.plain.Store(c)
}

// connections are those that are ready.
func (b *backend) connections() (all []*connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all = append(all, b.going...)
	if c := b.primary.ready.Load(); c != nil {
		all = append(all, c)
	}
	for _, l := range b.links {
		if c := l.ready.Load(); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// piped gives the connections that calls of the quick path may be pending on.
func (s *backends) piped() (all []*connection) {
	for _, b := range slices.Concat(s.all(), s.draining()) {
		for _, c := range b.connections() {
			if c.pipe != nil {
				all = append(all, c)
			}
		}
	}
	return all
}
