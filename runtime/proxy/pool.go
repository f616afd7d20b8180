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
	// maxSlots bounds the connections of a backend besides the shared ones.
	// Beyond it one that is idle makes room, else callers share, and questions
	// that cannot be told to belong to one of them are refused.
	maxSlots = 16
)

// sharedOffer is what a connection declares that any client may come to use:
// all that we can carry. What a server asks goes by what its caller has
// declared.
const sharedOffer = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},` +
	`"extensions":{"` + revision.ExtensionUI + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// acquire gives the connection that a client's request takes. done is called
// when the request has ended.
func (b *Backend) acquire(ctx context.Context, from *Origin) (_ *Conn, done func(), _ error) {
	if !b.connectedOnce.Load() {
		// The primary connection tells the era, and what there is to ask for.
		if _, err := b.primary.acquire(ctx); err != nil {
			return nil, nil, err
		}
	}
	for again := true; ; again = false {
		if from.slot != nil && again {
			c, err := from.slot.acquire(ctx)
			if !errors.Is(err, errSlotClosed) {
				return c, func() {}, err
			}
			continue
		}
		l := b.selectSlot(from)
		c, err := l.acquire(ctx)
		switch {
		case err == nil && l.exclusive:
			return c, func() { b.release(l) }, nil
		case err == nil && again && l.key.Legacy && !b.speaksBoth():
			continue // its handshake has shown to lead nowhere
		case err == nil:
			return c, func() {}, nil
		case l.exclusive:
			b.release(l)
		}
		if again && errors.Is(err, errSlotClosed) {
			continue
		}
		if shared := b.fallback(from, l); shared != nil && ctx.Err() == nil {
			if c, shared := shared.acquire(ctx); shared == nil {
				return c, func() {}, nil
			}
		}
		return nil, nil, err
	}
}

// fallback gives the shared link for a client whose own cannot be connected, nil
// where it must not be used: some programs run once only.
func (b *Backend) fallback(from *Origin, l *Slot) *Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, _ := b.shared(from)
	if shared == l || b.config().Isolation != isolationAuto || b.closed {
		return nil
	}
	return shared
}

// shared gives the link that clients of the caller's era share, and whether it
// prefers the handshake. The caller holds the lock.
func (b *Backend) shared(from *Origin) (_ *Slot, legacy bool) {
	if b.speaksBothEras && !from.modern() {
		return b.slotFor(key{Server: b.name, Legacy: true, Capabilities: sharedOffer}, nil), true
	}
	return b.primary, false
}

func (b *Backend) release(l *Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.inUse = false
	l.lastUsed = time.Now()
}

// selectSlot chooses the link for a client's request. A private one is remembered
// with the client, where the quick path finds it.
func (b *Backend) selectSlot(from *Origin) *Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, legacy := b.shared(from)
	if from.client != nil && from.client.state.ended.Load() {
		return shared // nobody would close what is its own
	}
	private := b.config().Isolation == isolationSession && from.client != nil
	asked := b.asksClients && (legacy || !b.modern) && b.config().Isolation != isolationShared && b.config().Isolation != isolationPrincipal
	// A connection that costs no process tells the server the truth: some go by
	// what a client has declared without ever asking. Sessions are told apart
	// when there is more to it than that.
	truth := b.remote && from.modern() && b.config().Isolation == isolationAuto
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
	if c := shared.ready.Load(); from.client != nil && !private && c != nil && c.reserved && c.firstClient.Load() == from.client {
		b.assign(from.client, shared)
		return shared
	}
	key := key{Server: b.name, Legacy: legacy, Capabilities: string(b.set.withRoots(json.RawMessage(offer)))}
	var l *Slot
	switch {
	case from.client != nil && (private || offer != "{}"):
		key.Scope = scopeSession + from.client.id
		l = b.slotFor(key, from.client)
	case offer == "{}" || !b.unattributed:
		l = b.slotFor(key, nil)
	default:
		l = b.exclusiveSlot(key)
	}
	if l == nil {
		return shared // there are too many already
	}
	if b.config().Isolation == isolationAuto && l.failures > 0 && time.Now().Before(l.retryAt) {
		l.inUse = false
		return shared // see instead
	}
	l.lastUsed = time.Now()
	if from.client != nil {
		b.assign(from.client, l)
	}
	return l
}

// assign has a client's calls and subscriptions go over a link from now on. The
// caller holds the lock.
func (b *Backend) assign(who *Client, l *Slot) {
	if who.state.assign(b, l) {
		b.set.observer.moved(who, l)
	}
}

// Beginnings of [Key.Scope].
const (
	scopeSession = "session "
	scopeCall    = "call "
)

// slotFor gives the link with a key, nil where there are too many to make one. The
// caller holds the lock.
func (b *Backend) slotFor(key key, owner *Client) *Slot {
	if l := b.slots[key]; l != nil {
		return l
	}
	if !key.isShared() && !b.makeRoom() {
		return nil
	}
	l := &Slot{backend: b, key: key, owner: owner}
	b.slots[key] = l
	b.set.watchIdle()
	return l
}

// exclusiveSlot gives a link that nobody else uses until it is given back, nil where
// there are too many. The caller holds the lock.
func (b *Backend) exclusiveSlot(key key) *Slot {
	for k, l := range b.slots {
		if l.exclusive && !l.inUse && k.Capabilities == key.Capabilities && k.Legacy == key.Legacy {
			l.inUse = true
			return l
		}
	}
	b.exclusives++
	key.Scope = scopeCall + strconv.FormatUint(b.exclusives, 10)
	l := b.slotFor(key, nil)
	if l != nil {
		l.exclusive, l.inUse = true, true
	}
	return l
}

// isShared tells whether a connection is that which clients of an era share.
func (k key) isShared() bool { return k.Capabilities == sharedOffer && k.Scope == "" }

// makeRoom tells whether one more link may be made, closing one that is idle where
// there are too many. The caller holds the lock.
func (b *Backend) makeRoom() bool {
	n, now := 0, time.Now()
	var idle *Slot
	for k, l := range b.slots {
		if k.isShared() {
			continue
		}
		n++
		if now.Sub(l.lastUse()) > yieldIdle && !l.isNeeded(now) && (idle == nil || l.lastUsed.Before(idle.lastUsed)) {
			idle = l
		}
	}
	if n < maxSlots {
		return true
	}
	if idle == nil {
		return false
	}
	idle.closeIdle()
	return idle.closed
}

// lastUse is when the link was last seen in use. The caller holds the lock.
func (l *Slot) lastUse() time.Time {
	if c := l.ready.Load(); c != nil {
		if n := c.callsBegun(); n != l.begun {
			l.begun, l.lastUsed = n, time.Now()
		}
	}
	return l.lastUsed
}

// closeSlot closes a link for good and forgets it. The caller holds the lock.
func (b *Backend) closeSlot(l *Slot) {
	if l.closed {
		return
	}
	l.closed = true
	delete(b.slots, l.key)
	c := l.ready.Swap(nil)
	b.publishFastPath()
	if c != nil && !b.closed {
		b.set.work.Go(func() { _ = c.client.Close() })
	}
}

// closeClient closes what was a client's own.
func (b *Backend) closeClient(who *Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, l := range b.slots {
		if l.owner == who && strings.HasPrefix(k.Scope, scopeSession) {
			b.closeSlot(l)
		}
	}
}

// noteEra notes what a new connection tells of the server's era. The caller
// holds the lock.
func (b *Backend) noteEra(c *Conn) {
	if c.slot == b.primary {
		legacy := false
		for _, v := range c.client.Info().Versions {
			legacy = legacy || !revision.IsModern(v)
		}
		b.modern = c.modern()
		b.remote = !b.modern && c.pipe == nil
		b.speaksBothEras = b.modern && legacy
	} else if c.slot.key.Legacy && sessionless(c.client.Transport()) {
		// Such a server can neither ask in the client's era nor be told of a
		// cancel: the stateless era has all that it has, and these.
		b.log.Info("backend keeps no session after a handshake: its other era is used")
		b.speaksBothEras = false
	}
	b.publishFastPath()
}

// speaksBoth tells whether clients of the handshake era are better served in
// their own.
func (b *Backend) speaksBoth() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.speaksBothEras
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

// setAsksClients notes that the server has asked a client something over a connection
// that it may share with others; untold tells that nothing says to which call
// the question belongs. A session that has used the connection alone so far
// keeps it, with the state that the server has for it. What is noted is kept for
// processes to come, where there is a store.
func (b *Backend) setAsksClients(c *Conn, untold bool) {
	if c.modern() {
		return // its questions are answers to calls
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asksClients {
		b.log.Info("backend asks its clients")
	}
	b.asksClients, b.unattributed = true, b.unattributed || untold
	c.reserved = c.reserved || c.onlyClient() != nil
	b.publishFastPath()
}

// publishFastPath tells the quick path over which connection all clients of the handshake
// era go; nil: pick decides. The caller holds the lock.
func (b *Backend) publishFastPath() {
	var c *Conn
	l := b.primary
	if b.speaksBothEras {
		l = b.slots[key{Server: b.name, Legacy: true, Capabilities: sharedOffer}]
	}
	private := b.config().Isolation == isolationSession || b.config().Isolation == isolationAuto && b.asksClients && (b.speaksBothEras || !b.modern)
	if l != nil && !private {
		c = l.ready.Load()
	}
	b.legacyShared.Store(c)
	// See pick, for a caller of the modern era.
	if c = b.primary.ready.Load(); c != nil &&
		(!c.takesFastCalls || b.asksClients && (b.config().Isolation == isolationAuto || b.config().Isolation == isolationSession)) {
		c = nil
	}
	b.modernShared.Store(c)
}

// connections are those that are ready.
func (b *Backend) connections() (all []*Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all = append(all, b.busyConns...)
	if c := b.primary.ready.Load(); c != nil {
		all = append(all, c)
	}
	for _, l := range b.slots {
		if c := l.ready.Load(); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// withPipe gives the connections that calls of the quick path may be pending on.
func (s *Set) withPipe() (all []*Conn) {
	for _, b := range slices.Concat(s.all(), s.draining()) {
		for _, c := range b.connections() {
			if c.pipe != nil {
				all = append(all, c)
			}
		}
	}
	return all
}
