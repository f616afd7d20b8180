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
	// maxAbandoned bounds the calls that are remembered for it. At the bound the
	// oldest goes: of as many at once, the latest say the same.
	maxAbandoned = 64
)

// abandoned is a call that was given up a moment ago.
type abandoned struct {
	who   *Client // nil for a client without a session: nobody else is known to be it
	until time.Time
}

// NoteAbandoned notes that a call has ended without an answer: until the server knows,
// what it says without telling inside which call may belong to this one.
func (c *Conn) NoteAbandoned(who *Client) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.noteAbandonedLocked(who)
}

// noteAbandonedLocked is gaveUp for who holds the lock.
func (c *Conn) noteAbandonedLocked(who *Client) {
	now := time.Now()
	c.abandoned = slices.DeleteFunc(c.abandoned, func(l abandoned) bool { return !now.Before(l.until) })
	if len(c.abandoned) >= maxAbandoned {
		c.abandoned = c.abandoned[1:]
	}
	c.abandoned = append(c.abandoned, abandoned{who, now.Add(abandonedTime)})
}

// abandonedByOthers tells whether what the server says may belong to a call that
// another client has given up. who is nil for a client without a session. The
// caller holds the lock.
func (c *Conn) abandonedByOthers(who *Client) bool {
	if len(c.abandoned) == 0 {
		return false
	}
	now := time.Now()
	return slices.ContainsFunc(c.abandoned, func(l abandoned) bool {
		return now.Before(l.until) && (l.who == nil || l.who != who)
	})
}
