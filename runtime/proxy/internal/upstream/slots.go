package upstream

import (
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
)

// slots are a pool's, besides the primary one. The callers of its methods hold the
// pool's lock.
type slots map[Key]*Slot

// evict reports whether one more slot may be made for a principal, closing one where
// there are too many: one that is idle, or one of the principal with the most.
func (all slots) evict(newcomer string) bool {
	n, now := 0, time.Now()
	var idle *Slot
	held := map[string]int{}
	for k, s := range all {
		if k.IsShared() {
			continue
		}
		n++
		if s.holder != "" {
			held[s.holder]++
		}
		if now.Sub(s.lastUse()) > YieldIdle && !s.isNeeded(now) && (idle == nil || s.use.last.Before(idle.use.last)) {
			idle = s
		}
	}
	if n < MaxSlots {
		return true
	}
	if idle != nil {
		if idle.closeIdle(); idle.closed {
			return true
		}
	}
	payer := limits.Payer(held, newcomer)
	if newcomer == "" || held[payer] < held[newcomer]+2 { // with whom it would be the same the other way round
		return false
	}
	return all.yield(payer)
}

// yield closes the connection of a principal that was used longest ago, and reports false
// where there is none.
func (all slots) yield(holder string) bool {
	var oldest *Slot
	for k, s := range all {
		if s.holder == holder && !k.IsShared() && s.attempts.current == nil && (oldest == nil || s.lastUse().Before(oldest.lastUse())) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	c := oldest.Ready.Swap(nil)
	oldest.close()
	if c != nil {
		b := oldest.Backend
		b.Log.Warn("a connection is given to another principal", "of", holder)
		b.Set.Work.Go(func() {
			c.refuse(errYielded)
			_ = c.Client.Close()
		})
	}
	return true
}

// errYielded ends the calls over a connection that another principal gets.
var errYielded = errors.New("its connection was needed for another user, and you had the most: let fewer calls wait at a time")

// evictFor returns an error where too many other principals have connections. Those
// of the one that has been idle longest make room, if that is long enough.
func (all slots) evictFor(principal string, most int) error {
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
	if _, ok := used[principal]; ok || len(used) < most {
		return nil
	}
	idlest, last := Idlest(used)
	wait := YieldIdle - now.Sub(last)
	if wait < 0 && all.closePrincipal(idlest) {
		return nil
	}
	return &CrowdedError{Most: most, In: max(wait, time.Second)}
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
