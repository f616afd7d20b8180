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
)

// RecentlyCancelled are the calls that were given up a moment ago. The zero value has none.
type RecentlyCancelled[C comparable] struct{ calls []abandoned[C] }

type abandoned[C comparable] struct {
	client C
	until  time.Time
}

// Add notes that a client's call has ended without an answer: until the server
// knows, what it says without naming a call may belong to this one.
func (a *RecentlyCancelled[C]) Add(client C) {
	now := time.Now()
	a.calls = slices.DeleteFunc(a.calls, func(c abandoned[C]) bool { return !now.Before(c.until) })
	if len(a.calls) >= maxAbandoned {
		a.calls = a.calls[1:]
	}
	a.calls = append(a.calls, abandoned[C]{client, now.Add(abandonedTime)})
}

// ByOthers reports whether what the server says may belong to a call that another client
// has given up.
func (a *RecentlyCancelled[C]) ByOthers(client C) bool {
	if len(a.calls) == 0 {
		return false
	}
	var stranger C
	now := time.Now()
	return slices.ContainsFunc(a.calls, func(c abandoned[C]) bool {
		return now.Before(c.until) && (c.client == stranger || c.client != client)
	})
}
