package upstream

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
	// MaxSlots bounds the connections of a backend besides the shared ones.
	// Beyond it one that is idle makes room, else callers share, and questions
	// that cannot be told to belong to one of them are refused.
	MaxSlots = 16
)

// SharedOffer is what a connection declares that any client may come to use:
// all that we can carry. What a server asks goes by what its caller has
// declared.
const SharedOffer = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},` +
	`"extensions":{"` + revision.ExtensionUI + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// Acquire gives the connection that a client's request takes. done is called
// when the request has ended.
func (b *Backend) Acquire(ctx context.Context, from *Origin) (_ *Conn, done func(), _ error) {
	if !b.ConnectedOnce.Load() {
		// The primary connection tells the era, and what there is to ask for.
		if _, err := b.Primary.Acquire(ctx); err != nil {
			return nil, nil, err
		}
	}
	for again := true; ; again = false {
		if from.Slot != nil && again {
			c, err := from.Slot.Acquire(ctx)
			if !errors.Is(err, errSlotClosed) {
				return c, func() {}, err
			}
			continue
		}
		l := b.SelectSlot(from)
		c, err := l.Acquire(ctx)
		switch {
		case err == nil && l.Exclusive:
			return c, func() { b.Release(l) }, nil
		case err == nil && again && l.Key.Legacy && !b.speaksBoth():
			continue // its handshake has shown to lead nowhere
		case err == nil:
			return c, func() {}, nil
		case l.Exclusive:
			b.Release(l)
		}
		if again && errors.Is(err, errSlotClosed) {
			continue
		}
		if shared := b.fallback(from, l); shared != nil && ctx.Err() == nil {
			if c, shared := shared.Acquire(ctx); shared == nil {
				return c, func() {}, nil
			}
		}
		return nil, nil, err
	}
}

// fallback gives the shared link for a client whose own cannot be connected, nil
// where it must not be used: some programs run once only.
func (b *Backend) fallback(from *Origin, l *Slot) *Slot {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	shared, _ := b.shared(from)
	if shared == l || b.Config().Isolation != isolationAuto || b.closed {
		return nil
	}
	return shared
}

// shared gives the link that clients of the caller's era share, and whether it
// prefers the handshake. The caller holds the lock.
func (b *Backend) shared(from *Origin) (_ *Slot, legacy bool) {
	if b.speaksBothEras && !from.Modern() {
		return b.slotFor(Key{Server: b.Name, Legacy: true, Capabilities: SharedOffer}, nil), true
	}
	return b.Primary, false
}

func (b *Backend) Release(l *Slot) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	l.inUse = false
	l.lastUsed = time.Now()
}

// SelectSlot chooses the link for a client's request. A private one is remembered
// with the client, where the quick path finds it.
func (b *Backend) SelectSlot(from *Origin) *Slot {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	shared, legacy := b.shared(from)
	if from.Client != nil && from.Client.State.Ended.Load() {
		return shared // nobody would close what is its own
	}
	private := b.Config().Isolation == isolationSession && from.Client != nil
	asked := b.asksClients && (legacy || !b.modern) && b.Config().Isolation != isolationShared && b.Config().Isolation != isolationPrincipal
	// A connection that costs no process tells the server the truth: some go by
	// what a client has declared without ever asking. Sessions are told apart
	// when there is more to it than that.
	truth := b.Remote && from.Modern() && b.Config().Isolation == isolationAuto
	if !private && !asked && !truth {
		return shared
	}
	to := revision.Latest
	if b.modern && !legacy {
		to = revision.Modern
	}
	offer := string(revision.Offer(from.Capabilities, from.Version, to))
	if offer == SharedOffer && !private && !asked {
		return shared
	}
	if c := shared.Ready.Load(); from.Client != nil && !private && c != nil && c.reserved && c.FirstClient.Load() == from.Client {
		b.assign(from.Client, shared)
		return shared
	}
	key := Key{Server: b.Name, Legacy: legacy, Capabilities: string(b.Set.WithRoots(json.RawMessage(offer)))}
	var l *Slot
	switch {
	case from.Client != nil && (private || offer != "{}"):
		key.Scope = scopeSession + from.Client.id
		l = b.slotFor(key, from.Client)
	case offer == "{}" || !b.unattributed:
		l = b.slotFor(key, nil)
	default:
		l = b.exclusiveSlot(key)
	}
	if l == nil {
		return shared // there are too many already
	}
	if b.Config().Isolation == isolationAuto && l.failures > 0 && time.Now().Before(l.retryAt) {
		l.inUse = false
		return shared // see instead
	}
	l.lastUsed = time.Now()
	if from.Client != nil {
		b.assign(from.Client, l)
	}
	return l
}

// assign has a client's calls and subscriptions go over a link from now on. The
// caller holds the lock.
func (b *Backend) assign(who *Client, l *Slot) {
	if who.State.assign(b, l) {
		b.Set.Observer.Moved(who, l)
	}
}

// Beginnings of [Key.Scope].
const (
	scopeSession = "session "
	scopeCall    = "call "
)

// slotFor gives the link with a key, nil where there are too many to make one. The
// caller holds the lock.
func (b *Backend) slotFor(key Key, owner *Client) *Slot {
	if l := b.Slots[key]; l != nil {
		return l
	}
	if !key.isShared() && !b.makeRoom() {
		return nil
	}
	l := &Slot{Backend: b, Key: key, Owner: owner}
	b.Slots[key] = l
	b.Set.watchIdle()
	return l
}

// exclusiveSlot gives a link that nobody else uses until it is given back, nil where
// there are too many. The caller holds the lock.
func (b *Backend) exclusiveSlot(key Key) *Slot {
	for k, l := range b.Slots {
		if l.Exclusive && !l.inUse && k.Capabilities == key.Capabilities && k.Legacy == key.Legacy {
			l.inUse = true
			return l
		}
	}
	b.exclusives++
	key.Scope = scopeCall + strconv.FormatUint(b.exclusives, 10)
	l := b.slotFor(key, nil)
	if l != nil {
		l.Exclusive, l.inUse = true, true
	}
	return l
}

// isShared tells whether a connection is that which clients of an era share.
func (k Key) isShared() bool { return k.Capabilities == SharedOffer && k.Scope == "" }

// makeRoom tells whether one more link may be made, closing one that is idle where
// there are too many. The caller holds the lock.
func (b *Backend) makeRoom() bool {
	n, now := 0, time.Now()
	var idle *Slot
	for k, l := range b.Slots {
		if k.isShared() {
			continue
		}
		n++
		if now.Sub(l.lastUse()) > YieldIdle && !l.isNeeded(now) && (idle == nil || l.lastUsed.Before(idle.lastUsed)) {
			idle = l
		}
	}
	if n < MaxSlots {
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
	if c := l.Ready.Load(); c != nil {
		if n := c.callsBegun(); n != l.begun {
			l.begun, l.lastUsed = n, time.Now()
		}
	}
	return l.lastUsed
}

// CloseSlot closes a link for good and forgets it. The caller holds the lock.
func (b *Backend) CloseSlot(l *Slot) {
	if l.closed {
		return
	}
	l.closed = true
	delete(b.Slots, l.Key)
	c := l.Ready.Swap(nil)
	b.publishFastPath()
	if c != nil && !b.closed {
		b.Set.Work.Go(func() { _ = c.Client.Close() })
	}
}

// closeClient closes what was a client's own.
func (b *Backend) closeClient(who *Client) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for k, l := range b.Slots {
		if l.Owner == who && strings.HasPrefix(k.Scope, scopeSession) {
			b.CloseSlot(l)
		}
	}
}

// noteEra notes what a new connection tells of the server's era. The caller
// holds the lock.
func (b *Backend) noteEra(c *Conn) {
	if c.Slot == b.Primary {
		legacy := false
		for _, v := range c.Client.Info().Versions {
			legacy = legacy || !revision.IsModern(v)
		}
		b.modern = c.Modern()
		b.Remote = !b.modern && c.Pipe == nil
		b.speaksBothEras = b.modern && legacy
	} else if c.Slot.Key.Legacy && sessionless(c.Client.Transport()) {
		// Such a server can neither ask in the client's era nor be told of a
		// cancel: the stateless era has all that it has, and these.
		b.Log.Info("backend keeps no session after a handshake: its other era is used")
		b.speaksBothEras = false
	}
	b.publishFastPath()
}

// speaksBoth tells whether clients of the handshake era are better served in
// their own.
func (b *Backend) speaksBoth() bool {
	b.Mu.Lock()
	defer b.Mu.Unlock()
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

// SetAsksClients notes that the server has asked a client something over a connection
// that it may share with others; untold tells that nothing says to which call
// the question belongs. A session that has used the connection alone so far
// keeps it, with the state that the server has for it. What is noted is kept for
// processes to come, where there is a store.
func (b *Backend) SetAsksClients(c *Conn, untold bool) {
	if c.Modern() {
		return // its questions are answers to calls
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if !b.asksClients {
		b.Log.Info("backend asks its clients")
	}
	b.asksClients, b.unattributed = true, b.unattributed || untold
	c.reserved = c.reserved || c.onlyClient() != nil
	b.publishFastPath()
}

// publishFastPath tells the quick path over which connection all clients of the handshake
// era go; nil: pick decides. The caller holds the lock.
func (b *Backend) publishFastPath() {
	var c *Conn
	l := b.Primary
	if b.speaksBothEras {
		l = b.Slots[Key{Server: b.Name, Legacy: true, Capabilities: SharedOffer}]
	}
	private := b.Config().Isolation == isolationSession || b.Config().Isolation == isolationAuto && b.asksClients && (b.speaksBothEras || !b.modern)
	if l != nil && !private {
		c = l.Ready.Load()
	}
	b.LegacyShared.Store(c)
	// See pick, for a caller of the modern era.
	if c = b.Primary.Ready.Load(); c != nil &&
		(!c.takesFastCalls || b.asksClients && (b.Config().Isolation == isolationAuto || b.Config().Isolation == isolationSession)) {
		c = nil
	}
	b.ModernShared.Store(c)
}

// Connections are those that are ready.
func (b *Backend) Connections() (all []*Conn) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	all = append(all, b.busyConns...)
	if c := b.Primary.Ready.Load(); c != nil {
		all = append(all, c)
	}
	for _, l := range b.Slots {
		if c := l.Ready.Load(); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// WithPipe gives the connections that calls of the quick path may be pending on.
func (s *Set) WithPipe() (all []*Conn) {
	for _, b := range slices.Concat(s.All(), s.Draining()) {
		for _, c := range b.Connections() {
			if c.Pipe != nil {
				all = append(all, c)
			}
		}
	}
	return all
}
