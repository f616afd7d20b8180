package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// shared returns the slot that clients of an era share: all of them, or those of the
// caller's principal where principals are told apart. The caller holds the lock.
func (p *Pool) shared(from *Caller, legacy bool) (*Slot, error) {
	apart := p.b.Config().ByPrincipal()
	key := Everybodys(p.b.Name, legacy)
	s := p.b.Primary
	switch {
	case apart && from.Who != nil:
		key = key.For(from.Who.ID)
		if p.slots[key] == nil {
			if err := p.slots.evictFor(from.Who.ID, p.b.Config().MaxPrincipals); err != nil {
				return nil, err
			}
		}
		s = p.slotFor(key, nil, "")
		s.principal, s.use.last = from.Who, time.Now()
	case key.Legacy:
		s = p.slotFor(key, nil, "")
	}
	if apart && from.Client != nil {
		p.assign(from.Client, s) // there is no connection that is everybody's
	}
	return s, nil
}

// DiscoverySlot returns the slot over which to learn what the server offers: the primary one,
// or where its credentials are those of who calls, that of a principal, nil for nobody
// in particular. The error is a [*CrowdedError].
func (p *Pool) DiscoverySlot(principal *access.Principal) (*Slot, error) {
	if principal == nil || !p.b.Config().PerPrincipal {
		return p.b.Primary, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shared(&Caller{Audience: Audience{Who: principal}}, false)
}

// isDiscovery reports whether what the server offers may be learned over the slot.
func (s *Slot) isDiscovery() bool {
	return s == s.Backend.Primary || s.Key.Principal != "" && s.Key.IsShared() && !s.Key.Legacy && s.Backend.Config().PerPrincipal
}

// DiscoveryConn returns a connection over which the server tells what it offers, nil where there
// is none.
func (p *Pool) DiscoveryConn() *Conn {
	if c := p.b.Primary.Ready.Load(); c != nil || !p.b.Config().PerPrincipal {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.everySlot() {
		if c := s.Ready.Load(); c != nil && s.isDiscovery() {
			return c
		}
	}
	return nil
}

// Successor returns the slot of a backend that takes the place of one of the backend
// that it has replaced, nil where there is no room for it.
func (b *Backend) Successor(old *Slot) *Slot {
	old.Backend.Pool.mu.Lock()
	principal := old.principal
	old.Backend.Pool.mu.Unlock()
	if principal == nil {
		return b.Primary
	}
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	s, err := b.Pool.shared(&Caller{Audience: Audience{Who: principal}}, false)
	if err != nil {
		return nil
	}
	return s
}

// SharedSlot returns the slot that the clients of the caller's era and principal share.
// The error is a [*CrowdedError].
func (p *Pool) SharedSlot(from *Caller) (*Slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	request := from.sharing()
	return p.shared(from, request.Legacy(&p.era))
}
