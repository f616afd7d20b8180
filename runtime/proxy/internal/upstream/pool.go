package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Key says which connection to a server is meant; see proxy.Key.
type Key struct {
	Server       string
	Legacy       bool
	Scope        string
	Capabilities string
}

// Beginnings of [Key.Scope].
const (
	scopeSession = "session "
	scopeCall    = "call "
)

// isShared reports whether a connection is the one that clients of an era share.
func (k Key) isShared() bool { return k.Capabilities == SharedOffer && k.Scope == "" }

// SharedOffer is what a connection declares that any client may come to use:
// all that we can carry. What a server asks goes by what its caller has declared.
const SharedOffer = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},` +
	`"extensions":{"` + revision.ExtensionUI + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

const (
	// MaxSlots bounds the connections of a backend besides the shared ones.
	// Beyond it one that is idle makes room, else callers share, and questions
	// that cannot be told to belong to one of them are refused.
	MaxSlots = 16
	// YieldIdle is how long one of those must be idle to make room for another's.
	YieldIdle = 30 * time.Second
)

// pool is a backend's connections, and what has become of them.
type pool struct {
	slots      map[Key]*Slot // besides the primary one
	busy       []*Conn       // that are no slot's any more, and still have calls
	exclusives uint64        // exclusive slots ever made
	keptUntil  time.Time     // connections are kept until then, see KeepForAnswers
	restarts   uint64        // connections made in the place of one that was lost
	lastErr    error         // the latest failure or end of any slot, nil for none
	failedAt   time.Time
}

// Acquire returns the connection that a client's request takes. done is called
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
		s := b.SelectSlot(from)
		c, err := s.Acquire(ctx)
		switch {
		case err == nil && s.Exclusive:
			return c, func() { b.Release(s) }, nil
		case err == nil && again && s.Key.Legacy && !b.speaksBoth():
			continue // its handshake has shown to lead nowhere
		case err == nil:
			return c, func() {}, nil
		case s.Exclusive:
			b.Release(s)
		}
		if again && errors.Is(err, errSlotClosed) {
			continue
		}
		if shared := b.fallback(from, s); shared != nil && ctx.Err() == nil {
			if c, shared := shared.Acquire(ctx); shared == nil {
				return c, func() {}, nil
			}
		}
		return nil, nil, err
	}
}

// fallback returns the shared slot for a client whose own cannot be connected, nil
// where it must not be used: some programs run once only.
func (b *Backend) fallback(from *Origin, s *Slot) *Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, _ := b.shared(from)
	if shared == s || b.Config().Isolation != settings.IsolationAuto || b.life.closed {
		return nil
	}
	return shared
}

// shared returns the slot that clients of the caller's era share, and whether it
// prefers the handshake. The caller holds the lock.
func (b *Backend) shared(from *Origin) (_ *Slot, legacy bool) {
	if b.known.speaksBoth && !from.Modern() {
		return b.slotFor(Key{Server: b.Name, Legacy: true, Capabilities: SharedOffer}, nil), true
	}
	return b.Primary, false
}

// Release takes an exclusive slot back.
func (b *Backend) Release(s *Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.use.taken, s.use.last = false, time.Now()
}

// SelectSlot chooses the slot for a client's request. A private one is remembered
// with the client, where the fast path finds it.
func (b *Backend) SelectSlot(from *Origin) *Slot {
	b.mu.Lock()
	defer b.mu.Unlock()
	shared, legacy := b.shared(from)
	if from.Client != nil && from.Client.State.Ended.Load() {
		return shared // nobody would close what is its own
	}
	isolation := b.Config().Isolation
	private := isolation == settings.IsolationSession && from.Client != nil
	asked := b.known.asksClients && (legacy || !b.known.modern) && isolation != settings.IsolationShared && isolation != settings.IsolationPrincipal
	// A connection that costs no process tells the server the truth: some go by
	// what a client has declared without ever asking. Sessions are told apart
	// when there is more to it than that.
	truth := b.known.remote && from.Modern() && isolation == settings.IsolationAuto
	if !private && !asked && !truth {
		return shared
	}
	to := revision.Latest
	if b.known.modern && !legacy {
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
	var s *Slot
	switch {
	case from.Client != nil && (private || offer != "{}"):
		key.Scope = scopeSession + from.Client.ID
		s = b.slotFor(key, from.Client)
	case offer == "{}" || !b.known.unattributed:
		s = b.slotFor(key, nil)
	default:
		s = b.exclusiveSlot(key)
	}
	if s == nil {
		return shared // there are too many already
	}
	if isolation == settings.IsolationAuto && s.attempts.failures > 0 && time.Now().Before(s.attempts.retryAt) {
		s.use.taken = false
		return shared // see fallback
	}
	s.use.last = time.Now()
	if from.Client != nil {
		b.assign(from.Client, s)
	}
	return s
}

// assign has a client's calls and subscriptions go over a slot from now on. The
// caller holds the lock.
func (b *Backend) assign(who *Client, s *Slot) {
	if who.State.assign(b, s) {
		b.Set.Observer.Moved(who, s)
	}
}

// slotFor returns the slot with a key, nil where there are too many to make one.
// The caller holds the lock.
func (b *Backend) slotFor(key Key, owner *Client) *Slot {
	if s := b.pool.slots[key]; s != nil {
		return s
	}
	if !key.isShared() && !b.makeRoom() {
		return nil
	}
	s := &Slot{Backend: b, Key: key, Owner: owner}
	b.pool.slots[key] = s
	b.Set.watchIdle()
	return s
}

// exclusiveSlot returns a slot that nobody else uses until it is released, nil where
// there are too many. The caller holds the lock.
func (b *Backend) exclusiveSlot(key Key) *Slot {
	for k, s := range b.pool.slots {
		if s.Exclusive && !s.use.taken && k.Capabilities == key.Capabilities && k.Legacy == key.Legacy {
			s.use.taken = true
			return s
		}
	}
	b.pool.exclusives++
	key.Scope = scopeCall + strconv.FormatUint(b.pool.exclusives, 10)
	s := b.slotFor(key, nil)
	if s != nil {
		s.Exclusive, s.use.taken = true, true
	}
	return s
}

// makeRoom reports whether one more slot may be made, closing one that is idle
// where there are too many. The caller holds the lock.
func (b *Backend) makeRoom() bool {
	n, now := 0, time.Now()
	var idle *Slot
	for k, s := range b.pool.slots {
		if k.isShared() {
			continue
		}
		n++
		if now.Sub(s.lastUse()) > YieldIdle && !s.isNeeded(now) && (idle == nil || s.use.last.Before(idle.use.last)) {
			idle = s
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

// lastUse returns when the slot was last seen in use. The caller holds the lock.
func (s *Slot) lastUse() time.Time {
	if c := s.Ready.Load(); c != nil {
		if n := c.callsBegun(); n != s.use.begun {
			s.use.begun, s.use.last = n, time.Now()
		}
	}
	return s.use.last
}

// Close closes a slot for good and forgets it.
func (s *Slot) Close() {
	s.Backend.mu.Lock()
	defer s.Backend.mu.Unlock()
	s.close()
}

// close is Close for a caller that holds the lock.
func (s *Slot) close() {
	if s.closed {
		return
	}
	b := s.Backend
	s.closed = true
	delete(b.pool.slots, s.Key)
	c := s.Ready.Swap(nil)
	b.publishFastPath()
	if c != nil && !b.life.closed {
		b.Set.Work.Go(func() { _ = c.Client.Close() })
	}
}

// closeClient closes what was a client's own.
func (b *Backend) closeClient(who *Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, s := range b.pool.slots {
		if s.Owner == who && strings.HasPrefix(k.Scope, scopeSession) {
			s.close()
		}
	}
}

// everySlot returns the primary slot, and then the others. The caller holds the
// lock.
func (b *Backend) everySlot() []*Slot {
	all := []*Slot{b.Primary}
	for _, s := range b.pool.slots {
		all = append(all, s)
	}
	return all
}

// CountSlots returns how many slots there are besides the primary one.
func (b *Backend) CountSlots() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pool.slots)
}

// Connections returns those that are ready.
func (b *Backend) Connections() (all []*Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all = append(all, b.pool.busy...)
	for _, s := range b.everySlot() {
		if c := s.Ready.Load(); c != nil {
			all = append(all, c)
		}
	}
	return all
}
