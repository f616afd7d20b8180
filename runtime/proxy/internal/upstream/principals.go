package upstream

import (
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/sharing"
)

// shared returns the slot that clients of the caller's era share: all of them, or
// those of its principal where principals are told apart. The caller holds the lock.
func (p *Pool) shared(from *Origin) (*Slot, error) {
	request, apart := from.sharing(), p.b.Config().ByPrincipal()
	key := sharing.Everybodys(p.b.Name, request.Legacy(&p.era))
	s := p.b.Primary
	switch {
	case apart && from.Who != nil:
		key = key.For(from.Who.ID)
		if p.slots[key] == nil {
			if err := p.slots.makeRoomFor(from.Who.ID, p.b.Config().MaxPrincipals); err != nil {
				return nil, err
			}
		}
		s = p.slotFor(key, nil)
		s.who, s.use.last = from.Who, time.Now()
	case key.Legacy:
		s = p.slotFor(key, nil)
	}
	if apart && from.Client != nil {
		p.assign(from.Client, s) // there is no connection that is everybody's
	}
	return s, nil
}

// SharedSlot returns the slot that the clients of the caller's era and principal share.
// The error is a [*CrowdedError].
func (p *Pool) SharedSlot(from *Origin) (*Slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shared(from)
}

// CrowdedError is that as many principals have connections to a server as may.
type CrowdedError struct {
	Most int
	// In is after how long one of them may make room.
	In time.Duration
}

func (e *CrowdedError) Error() string {
	return fmt.Sprintf("%d principals use the server now, and maxPrincipals allows no more: try again in %s", e.Most, e.In.Round(time.Second))
}
