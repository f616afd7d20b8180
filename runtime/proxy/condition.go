package proxy

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/ability"
)

// condition is how the way to a backend is at one moment.
type condition struct {
	// state is one of those below.
	state string
	// connections is how many are ready.
	connections int
	// restarts is how many connections were made in the place of one that was
	// lost; those that were closed as idle are not among them.
	restarts uint64
	// err is the latest failure to connect, or the latest end of a connection
	// that was not ours to end; nil for none. at is when.
	err error
	at  time.Time
	// nextTry is when the proxy connects on its own, or before which it does
	// not; zero where the next call does.
	nextTry time.Time
	// tripped tells that the backend has failed so often that calls, too, are
	// refused until nextTry.
	tripped bool
	// nextReap is when the first connection is closed as idle, if nobody calls
	// by then; zero where none will be.
	nextReap time.Time
}

// States of a backend.
const (
	stateIdle       = "idle"       // not connected; the next call connects it
	stateConnecting = "connecting" // and not connected yet
	stateReady      = "ready"      // at least one connection
	stateBroken     = "broken"     // it could not be connected when last tried
	stateClosed     = "closed"     // for good
)

// condition gives how the way to the backend is.
func (b *Backend) condition() condition {
	usage := b.activity.usage()
	b.set.reaper.mu.Lock()
	look := b.set.reaper.next
	b.set.reaper.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	c := condition{state: stateIdle, restarts: b.restarts, err: b.lastErr, at: b.failedAt}
	earliest := func(to *time.Time, at time.Time) {
		if to.IsZero() || at.Before(*to) {
			*to = at
		}
	}
	trying := false
	for _, l := range b.everySlot() {
		trying = trying || l.attempt != nil
		if until := l.breaker.opened(now); !until.IsZero() {
			c.tripped = true
			earliest(&c.nextTry, until)
		} else if l.reconnecting && l.attempt == nil && l.ready.Load() == nil {
			earliest(&c.nextTry, l.reconnectAt)
		}
		if l.ready.Load() == nil {
			continue
		}
		c.connections++
		if at, ever := l.idleAt(usage); ever && !l.isNeeded(now) && !look.IsZero() {
			if late := at.Sub(look); late > 0 { // it is looked at every so often
				at = look.Add((late + reapEvery - 1) / reapEvery * reapEvery)
			} else {
				at = look
			}
			earliest(&c.nextReap, at)
		}
	}
	switch {
	case b.closed:
		c.state = stateClosed
	case c.connections > 0:
		c.state = stateReady
	case trying:
		c.state = stateConnecting
	case c.tripped, b.primary.lastErr != nil:
		c.state = stateBroken
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

// connected tells of the connections that are ready.
func (b *Backend) connected() []connInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []connInfo{}
	for _, l := range b.everySlot() {
		c := l.ready.Load()
		if c == nil {
			continue
		}
		one := connInfo{Revision: c.version, Since: c.since, For: l.key.sharing()}
		if t, ok := c.client.Transport().(ability.PID); ok {
			one.PID = t.PID()
		}
		out = append(out, one)
	}
	if len(out) > 1 {
		rest := out
		if b.primary.ready.Load() != nil {
			rest = out[1:]
		}
		slices.SortFunc(rest, func(a, b connInfo) int { return a.Since.Compare(b.Since) })
	}
	return out
}

// sharing tells who may use a connection.
func (k key) sharing() string {
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

// storedSum stands for what is kept of what the backend offers, 0 for nothing.
func (b *Backend) storedSum() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.storedDigest
}
