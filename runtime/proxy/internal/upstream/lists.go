package upstream

import (
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Lists is the asking for a backend's lists again. Its lock is taken under the
// pool's, and no other lock is taken under it.
type Lists struct {
	b *Backend

	mu       sync.Mutex // guards what follows; held for memory work only
	schedule relistSchedule
	closed   bool // they are not asked for any more
	armed    bool // the timer runs
	timer    *time.Timer
	conn     *Conn // that clients share, and over which the server last said that one has changed; nil for none

	lacking  bool // a list could not be had
	failures int  // how often in a row
	retry    *time.Timer
}

// Begin notes that somebody asks the server for its lists. End follows.
func (l *Lists) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schedule.Begin()
}

// End notes that they have been asked for.
func (l *Lists) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schedule.End()
}

// state reports whether somebody asks the server for its lists, and whether one could
// not be had.
func (l *Lists) state() (asked, lacking bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.schedule.Asking > 0, l.lacking
}

// stop ends the asking for good.
func (l *Lists) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range []*time.Timer{l.timer, l.retry} {
		if t != nil {
			t.Stop()
		}
	}
}

// restart starts a timer again, making it where there is none.
func restart(t **time.Timer, d time.Duration, f func()) {
	if *t == nil {
		*t = time.AfterFunc(d, f)
		return
	}
	(*t).Reset(d)
}

// connected notes that the server was connected, and whether all lists could be had.
func (l *Lists) connected(whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed(whole)
	l.relist()
}

// listed notes whether all lists could be had. What could not is asked for
// again, later and later, as long as the server is connected, and with clients'
// lists where it is not; what it was before stays listed. The caller holds the lock.
func (l *Lists) listed(whole bool) {
	l.lacking = !whole
	if whole || l.closed {
		l.failures = 0
		if l.retry != nil {
			l.retry.Stop()
		}
		return
	}
	l.failures++
	restart(&l.retry, Discovering().After(l.failures, l.b.Set.Random()), func() { l.Changed(inventory.ListSet{}) })
}

// RecordChanged notes that a backend says over a connection which of its lists have changed.
func (l *Lists) RecordChanged(c *Conn, said inventory.ListSet) {
	if c.Slot.Key.IsEverybodys() {
		l.mu.Lock()
		l.conn = c
		l.mu.Unlock()
	}
	l.Changed(said)
}

// teller returns the connection over which the lists are asked for, nil for none: where the
// server said that they have changed, if clients still use that. A program that runs for each
// era of clients need not offer the same in both.
func (l *Lists) teller() *Conn {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	if c != nil && c.Slot.Ready.Load() == c {
		return c
	}
	return l.b.Pool.DiscoveryConn()
}

// Changed notes that the backend's lists have changed, and which it says so of.
func (l *Lists) Changed(said inventory.ListSet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schedule.NoteSaid(said, time.Now())
	l.relist()
}

// relist asks for changed lists, one request at a time: an older answer must not
// replace a newer one. The caller holds the lock.
func (l *Lists) relist() {
	if l.closed || !l.schedule.Stale || l.schedule.Asking > 0 || l.armed {
		return // or the goroutine that lists comes here again
	}
	l.armed = true
	restart(&l.timer, l.schedule.Pause(), l.relistNow)
}

func (l *Lists) relistNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if l.closed {
		return
	}
	said := l.schedule.TakeSaid()
	l.schedule.Begin()
	l.b.Set.Work.Go(func() { l.Reload(said) })
}

// Reload asks a connected backend for its lists. What it has said is passed on
// even where they look the same: more can change about a tool than its
// description.
func (l *Lists) Reload(said inventory.ListSet) {
	news, whole := false, false
	b := l.b
	c := l.teller()
	if c != nil {
		offers, err := b.load(c)
		if err != nil {
			b.Log.Warn("cannot list a changed backend", "err", err)
		} else {
			whole = offers.Whole()
			news = b.Set.Observer.Listed(b, offers, said)
			b.Persisted.Save(offers)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schedule.End()
	l.schedule.NoteAsked(news, time.Now())
	if c != nil { // or connecting asks
		l.listed(whole)
	}
	l.relist()
}
