package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/sharing"
)

// slots are a pool's, besides the primary one. The callers of its methods hold the
// pool's lock.
type slots map[sharing.Key]*Slot

// makeRoom reports whether one more slot may be made, closing one that is idle
// where there are too many.
func (all slots) makeRoom() bool {
	n, now := 0, time.Now()
	var idle *Slot
	for k, s := range all {
		if k.IsShared() {
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

// makeRoomFor returns an error where too many other principals have connections. Those
// of the one that has been idle longest make room, if that is long enough.
func (all slots) makeRoomFor(principal string, most int) error {
	now := time.Now()
	used := map[string]time.Time{}
	for k, s := range all {
		at := s.lastUse()
		if s.isNeeded(now) {
			at = now
		}
		if k.Principal != "" && !at.Before(used[k.Principal]) {
			used[k.Principal] = at
		}
	}
	if _, has := used[principal]; has || len(used) < most {
		return nil
	}
	idlest, last := sharing.Idlest(used)
	wait := YieldIdle - now.Sub(last)
	if wait < 0 && all.closePrincipal(idlest) {
		return nil
	}
	return &sharing.CrowdedError{Most: most, In: max(wait, time.Second)}
}

// closePrincipal closes the connections of a principal, and reports false where one is
// in use after all.
func (all slots) closePrincipal(id string) bool {
	for k, s := range all {
		if k.Principal != id {
			continue
		}
		if s.closeIdle(); !s.closed {
			return false
		}
	}
	return true
}
