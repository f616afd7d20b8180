package upstream

import (
	"slices"
	"time"
)

const (
	// abandonedTime is how long something of a call that was given up may still come:
	// the server has to read of the cancel first, and what it sent before was on
	// its way.
	abandonedTime = 500 * time.Millisecond
	// maxAbandoned bounds the calls that are remembered. At the bound the oldest is
	// forgotten.
	maxAbandoned = 64
	// maxPromises bounds the notices that are awaited; beyond it one of them is not
	// passed on.
	maxPromises = 256
)

// RecentlyCancelled are the calls that were given up a moment ago. The zero value has none.
type RecentlyCancelled[C comparable] struct{ calls []abandoned[C] }

type abandoned[C comparable] struct {
	who   C
	until time.Time
}

// Add notes that a client's call has ended without an answer: until the server
// knows, what it says without naming a call may belong to this one.
func (a *RecentlyCancelled[C]) Add(who C) {
	now := time.Now()
	a.calls = slices.DeleteFunc(a.calls, func(c abandoned[C]) bool { return !now.Before(c.until) })
	if len(a.calls) >= maxAbandoned {
		a.calls = a.calls[1:]
	}
	a.calls = append(a.calls, abandoned[C]{who, now.Add(abandonedTime)})
}

// ByOthers reports whether what the server says may belong to a call that another client
// has given up.
func (a *RecentlyCancelled[C]) ByOthers(who C) bool {
	if len(a.calls) == 0 {
		return false
	}
	var stranger C
	now := time.Now()
	return slices.ContainsFunc(a.calls, func(c abandoned[C]) bool {
		return now.Before(c.until) && (c.who == stranger || c.who != who)
	})
}

// PendingNotices are the clients that are to hear of the end of something, by its id. The
// zero value has none.
type PendingNotices[C comparable] struct{ byID map[string]C }

// Add notes who is to hear of it.
func (p *PendingNotices[C]) Add(id string, who C) {
	if p.byID == nil {
		p.byID = map[string]C{}
	}
	if len(p.byID) >= maxPromises {
		for other := range p.byID {
			delete(p.byID, other)
			break
		}
	}
	p.byID[id] = who
}

// Take returns who is to hear of it, the zero value for nobody, and forgets it.
func (p *PendingNotices[C]) Take(id string) C {
	who := p.byID[id]
	delete(p.byID, id)
	return who
}
