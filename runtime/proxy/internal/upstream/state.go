package upstream

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/ability"
)

// condition is how the way to a backend is at one moment.
type condition struct {
	// State is one of those below.
	State string
	// connections is how many are ready.
	connections int
	// Restarts is how many connections were made in the place of one that was
	// lost; those that were closed as idle are not among them.
	Restarts uint64
	// Err is the latest failure to connect, or the latest end of a connection
	// that was not ours to end; nil for none. at is when.
	Err error
	At  time.Time
	// NextTry is when the proxy connects on its own, or before which it does
	// not; zero where the next call does.
	NextTry time.Time
	// Tripped tells that the backend has failed so often that calls, too, are
	// refused until nextTry.
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

// Condition gives how the way to the backend is.
func (b *Backend) Condition() condition {
	usage := b.Activity.Usage()
	b.Set.reaper.mu.Lock()
	look := b.Set.reaper.next
	b.Set.reaper.mu.Unlock()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	now := time.Now()
	c := condition{State: StateIdle, Restarts: b.restarts, Err: b.lastErr, At: b.failedAt}
	earliest := func(to *time.Time, at time.Time) {
		if to.IsZero() || at.Before(*to) {
			*to = at
		}
	}
	trying := false
	for _, l := range b.everySlot() {
		trying = trying || l.attempt != nil
		if until := l.Breaker.Opened(now); !until.IsZero() {
			c.Tripped = true
			earliest(&c.NextTry, until)
		} else if l.reconnecting && l.attempt == nil && l.Ready.Load() == nil {
			earliest(&c.NextTry, l.reconnectAt)
		}
		if l.Ready.Load() == nil {
			continue
		}
		c.connections++
		if at, ever := l.idleAt(usage); ever && !l.isNeeded(now) && !look.IsZero() {
			if late := at.Sub(look); late > 0 { // it is looked at every so often
				at = look.Add((late + ReapEvery - 1) / ReapEvery * ReapEvery)
			} else {
				at = look
			}
			earliest(&c.NextReap, at)
		}
	}
	switch {
	case b.closed:
		c.State = stateClosed
	case c.connections > 0:
		c.State = StateReady
	case trying:
		c.State = stateConnecting
	case c.Tripped, b.Primary.lastErr != nil:
		c.State = StateBroken
	}
	return c
}

// connInfo is what a status tells of a connection; see proxy.ConnectionStatus.
type connInfo struct {
	Revision string
	PID      int
	Since    time.Time
	For      string
}

// Values of connInfo.For.
const (
	forEverybody = "everybody"
	forEquals    = "equals"
	forSession   = "session"
	forCall      = "call"
)

// Connected tells of the connections that are ready.
func (b *Backend) Connected() []connInfo {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	out := []connInfo{}
	for _, l := range b.everySlot() {
		c := l.Ready.Load()
		if c == nil {
			continue
		}
		one := connInfo{Revision: c.Version, Since: c.since, For: l.Key.sharing()}
		if t, ok := c.Client.Transport().(ability.PID); ok {
			one.PID = t.PID()
		}
		out = append(out, one)
	}
	if len(out) > 1 {
		rest := out
		if b.Primary.Ready.Load() != nil {
			rest = out[1:]
		}
		slices.SortFunc(rest, func(a, b connInfo) int { return a.Since.Compare(b.Since) })
	}
	return out
}

// sharing tells who may use a connection.
func (k Key) sharing() string {
	switch {
	case k.isShared():
		return forEverybody
	case strings.HasPrefix(k.Scope, scopeSession):
		return forSession
	case strings.HasPrefix(k.Scope, scopeCall):
		return forCall
	}
	return forEquals
}

// StoredSum stands for what is kept of what the backend offers, 0 for nothing.
func (b *Backend) StoredSum() uint64 {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.storedDigest
}
