package proxy

import (
	"slices"
	"time"
)

const (
	// lateTime is how long something of a call that was given up may still come:
	// the server has to read of the cancel first, and what it sent before was on
	// its way.
	lateTime = 500 * time.Millisecond
	// maxLate bounds the calls that are remembered for it. At the bound the
	// oldest goes: of as many at once, the latest say the same.
	maxLate = 64
)

// late is a call that was given up a moment ago.
type late struct {
	who   *peer // nil for a client without a session: nobody else is known to be it
	until time.Time
}

// gaveUp notes that a call has ended without an answer: until the server knows,
// what it says without telling inside which call may belong to this one.
func (c *connection) gaveUp(who *peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteLate(who)
}

// noteLate is gaveUp for who holds the lock.
func (c *connection) noteLate(who *peer) {
	now := time.Now()
	c.late = slices.DeleteFunc(c.late, func(l late) bool { return !now.Before(l.until) })
	if len(c.late) >= maxLate {
		c.late = c.late[1:]
	}
	c.late = append(c.late, late{who, now.Add(lateTime)})
}

// lateOfOthers tells whether what the server says may belong to a call that
// another client has given up. who is nil for a client without a session. The
// caller holds the lock.
func (c *connection) lateOfOthers(who *peer) bool {
	if len(c.late) == 0 {
		return false
	}
	now := time.Now()
	return slices.ContainsFunc(c.late, func(l late) bool {
		return now.Before(l.until) && (l.who == nil || l.who != who)
	})
}
