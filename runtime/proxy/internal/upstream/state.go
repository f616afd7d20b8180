package upstream

import (
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
)

// Condition is how the way to a backend is at one moment.
type Condition struct {
	// State is one of those below.
	State string
	// Restarts is how many connections were made in the place of one that was
	// lost; those that were closed as idle are not among them.
	Restarts uint64
	// Err is the latest failure to connect, or the latest end of a connection
	// that was not ours to end; nil for none. At is when.
	Err error
	At  time.Time
	// NextTry is when the proxy connects on its own, or before which it does
	// not; zero where the next call does.
	NextTry time.Time
	// Tripped says that the backend has failed so often that calls, too, are
	// refused until NextTry.
	Tripped bool
	// NextReap is when the first connection is closed as idle, if nobody calls
	// by then; zero where none will be.
	NextReap time.Time
}

// States of a backend.
const (
	StateIdle       = "idle"       // not connected; the next call connects it
	stateConnecting = "connecting" // and not connected yet
	StateReady      = "ready"      // at least one connection
	StateBroken     = "broken"     // it could not be connected when last tried
	stateClosed     = "closed"     // for good
)

// Condition returns how the way to the backend is.
func (b *Backend) Condition() Condition {
	usage := b.Activity.Usage()
	look := b.Set.reaper.Next()
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	now := time.Now()
	c := Condition{State: StateIdle, Restarts: b.Pool.restarts, Err: b.Pool.lastErr, At: b.Pool.failedAt}
	earliest := func(to *time.Time, at time.Time) {
		if to.IsZero() || at.Before(*to) {
			*to = at
		}
	}
	connected, dialing := false, false
	for _, s := range b.Pool.everySlot() {
		ready := s.Ready.Load() != nil
		connected, dialing = connected || ready, dialing || s.attempts.current != nil
		if until := s.attempts.breaker.Opened(now); !until.IsZero() {
			c.Tripped = true
			earliest(&c.NextTry, until)
		} else if s.reconnecting.running && s.attempts.current == nil && !ready {
			earliest(&c.NextTry, s.reconnecting.at)
		}
		if !ready {
			continue
		}
		if at, ever := s.idleAt(usage); ever && !s.isNeeded(now) && !look.IsZero() {
			overdue := max(0, at.Sub(look)) // it is looked at every so often
			earliest(&c.NextReap, look.Add((overdue+ReapEvery-1)/ReapEvery*ReapEvery))
		}
	}
	switch {
	case b.Pool.closed:
		c.State = stateClosed
	case connected:
		c.State = StateReady
	case dialing:
		c.State = stateConnecting
	case c.Tripped, b.Primary.attempts.lastErr != nil:
		c.State = StateBroken
	}
	return c
}

// ConnInfo is what a status says of a connection; see proxy.ConnectionStatus.
type ConnInfo struct {
	Revision  string
	PID       int
	Since     time.Time
	For       string
	Principal string
	Malformed int // lines that were no messages
}

// Connected returns what a status says of the connections that are ready: the
// primary one, and then the others by age.
func (p *Pool) Connected() []ConnInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, primary := []ConnInfo{}, 0
	for _, s := range p.everySlot() {
		c := s.Ready.Load()
		if c == nil {
			continue
		}
		one := ConnInfo{Revision: c.Version, Since: c.since, For: s.Key.Users(), Principal: s.Key.Principal}
		if t, ok := c.Client.Transport().(ability.PID); ok {
			one.PID = t.PID()
		}
		if t, ok := c.Client.Transport().(ability.MalformedLines); ok {
			one.Malformed = t.MalformedLines()
		}
		if s == p.b.Primary {
			primary = 1
		}
		out = append(out, one)
	}
	slices.SortFunc(out[primary:], func(a, b ConnInfo) int { return a.Since.Compare(b.Since) })
	return out
}
