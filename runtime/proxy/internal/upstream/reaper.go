package upstream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/seal"
	"github.com/mcpctl/mcpctl/runtime/store"
)

const (
	// ReapEvery is how often connections are looked at, to close those that are
	// idle: a connection lasts for up to that much longer than its time.
	ReapEvery = 30 * time.Second
	// By how many requests there are an hour, on average, a server may be idle
	// for as long before its connections are closed.
	busyRate, BusyIdle = 20, 5 * time.Minute // more than that
	calmRate, calmIdle = 5, 3 * time.Minute  // no less than that
	rareIdle           = time.Minute         // else
	// OwnIdle is how long a connection may be idle that not every client shares:
	// the server may keep something for those who do.
	OwnIdle = 10 * time.Minute
	// YieldIdle is how long one of those must be idle to make room for another's.
	YieldIdle = 30 * time.Second
)

// IdleBound is how long a server may be idle before its connections are
// closed, by how it is used; false is for ever. A connection that no client has
// used yet gets the most: whoever had it made may be about to.
func (s *Settings) IdleBound(u store.Usage, used bool) (time.Duration, bool) {
	switch {
	case s.IdleTimeout < 0, s.IdleTimeout == 0 && s.Start == startEager:
		return 0, false
	case s.IdleTimeout > 0:
		return s.IdleTimeout, true
	}
	least, most := s.MinIdleTimeout, s.MaxIdleTimeout
	if least <= 0 {
		least = rareIdle
	}
	if most <= 0 {
		most = max(BusyIdle, least)
	}
	d := rareIdle
	switch {
	case !used:
		d = most
	case u.Interval <= 0: // there was one request
	case u.Interval < time.Hour/busyRate:
		d = BusyIdle
	case u.Interval <= time.Hour/calmRate:
		d = calmIdle
	}
	return min(max(d, least), most), true
}

// reaper closes idle connections, all servers' in one go. It runs while anything
// is connected. The zero value is ready.
type reaper struct {
	mu     sync.Mutex // guards what follows; taken after a backend's
	timer  *time.Timer
	next   time.Time // when it looks again, zero while nothing is connected
	closed bool
}

// watchIdle sees to it that idle connections are closed; there are some.
func (s *Set) watchIdle() {
	r := &s.reaper
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.next.IsZero() {
		return
	}
	r.next = time.Now().Add(ReapEvery)
	if r.timer == nil {
		r.timer = time.AfterFunc(ReapEvery, s.reap)
		return
	}
	r.timer.Reset(ReapEvery)
}

func (r *reaper) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// reap closes what is idle, and has written how servers are used.
func (s *Set) reap() {
	r := &s.reaper
	r.mu.Lock()
	r.next = time.Time{}
	if r.closed {
		r.mu.Unlock()
		return
	}
	s.Work.Add(1)
	r.mu.Unlock()
	defer s.Work.Done()
	left := false
	for _, b := range s.All() {
		left = b.Reap() || left
		b.KeepUsage()
	}
	if left {
		s.watchIdle()
	}
}

// Reap has the backend's idle connections closed, side by side and without
// waiting for it. It tells whether any are left.
func (b *Backend) Reap() (left bool) {
	usage := b.Activity.Usage()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.closed {
		return false
	}
	now := time.Now()
	for _, l := range b.everySlot() {
		l.lastUse()
		at, ever := l.idleAt(usage)
		if ever && !now.Before(at) && !l.isNeeded(now) {
			l.closeIdle()
		}
		left = left || l.Ready.Load() != nil || l != b.Primary && !l.Key.isShared()
	}
	return left
}

// everySlot gives the backend's links. The caller holds the lock.
func (b *Backend) everySlot() []*Slot {
	all := []*Slot{b.Primary}
	for _, l := range b.Slots {
		all = append(all, l)
	}
	return all
}

// idleAt tells when the link will have been idle for long enough to be closed,
// if nobody uses it; false for never. The caller holds the lock.
func (l *Slot) idleAt(u store.Usage) (time.Time, bool) {
	b, c := l.Backend, l.Ready.Load()
	if l != b.Primary && !l.Key.isShared() {
		d, ever := OwnIdle, true
		if set := b.Config(); set.IdleTimeout != 0 {
			d, ever = set.IdleBound(u, true)
		}
		return l.lastUsed.Add(d), ever
	}
	if c == nil {
		return time.Time{}, false
	}
	d, ever := b.Config().IdleBound(u, c.used())
	since := c.since
	if last := b.Activity.IdleSince(time.Now()); c.used() && last.After(since) {
		since = last
	}
	return since.Add(d), ever
}

// isNeeded tells whether the link must stay though nobody may have called over it
// for long. The caller holds the lock.
func (l *Slot) isNeeded(now time.Time) bool {
	b, c := l.Backend, l.Ready.Load()
	switch {
	case l.inUse, l.attempt != nil, c != nil && c.busy():
		return true
	case l == b.Primary && b.Relisting.asking > 0:
		return true
	case l.Owner != nil && b.Config().Isolation == isolationSession:
		return true // it lives as long as the session
	case now.Before(b.keptUntil):
		return true
	}
	return l.keeps.any(now)
}

// closeIdle closes the link's connection unless somebody is just about to use it.
// What is not everybody's is forgotten. The caller holds the lock.
func (l *Slot) closeIdle() {
	b, c := l.Backend, l.Ready.Load()
	if c != nil && !c.CloseIfIdle() {
		return
	}
	if c != nil {
		b.Log.Info("backend is idle: disconnected", "requests", b.Activity.Begins.N.Load())
	}
	if l != b.Primary && !l.Key.isShared() {
		b.CloseSlot(l)
		return
	}
	if l.Ready.CompareAndSwap(c, nil) {
		b.publishFastPath()
		l.closeInBackground(c)
	}
}

// KeepForAnswers keeps the backend's connections while somebody has been asked something
// that it may wait for, without a call under way: as long as the answer is
// taken.
func (b *Backend) KeepForAnswers() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.keptUntil = time.Now().Add(seal.StateTTL)
}

// endWait bounds how long connecting waits for the connection before it to be
// ended: longer than any transport takes.
const endWait = 10 * time.Second

// closeInBackground ends a connection that is out of use, in the background. The next one is
// not made before that: some programs cannot run twice. The caller holds the
// lock, and the backend is not closed.
func (l *Slot) closeInBackground(c *Conn) {
	ended := make(chan struct{})
	l.ending = ended
	l.Backend.Set.Work.Go(func() {
		defer close(ended)
		_ = c.Client.Close() // it is gone either way
	})
}

// awaitEnd waits for the connection before to be ended, within bounds.
func (l *Slot) awaitEnd(ctx context.Context) {
	l.Backend.Mu.Lock()
	ending := l.ending
	l.Backend.Mu.Unlock()
	if ending == nil {
		return
	}
	t := time.NewTimer(endWait)
	defer t.Stop()
	select {
	case <-ending:
	case <-t.C:
	case <-ctx.Done():
	}
}

// errIdleClosed is a connection that was closed, as unused, in the moment between
// its choice and its use: nothing of the call was sent.
var errIdleClosed = fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)

// CloseIfIdle takes the connection out of use for good, unless a call is in flight
// over it. No call can begin over it after that: those that have picked it find
// out before anything is sent, and take another.
func (c *Conn) CloseIfIdle() bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.noCalls || len(c.Calls) > 0 || c.Pipe != nil && !c.Pipe.Shut() {
		return c.noCalls
	}
	c.noCalls = true
	return true
}

// used tells whether a client has ever used the connection.
func (c *Conn) used() bool { return c.Shared.Load() || c.FirstClient.Load() != nil }
