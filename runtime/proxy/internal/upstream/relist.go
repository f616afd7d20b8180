package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/breaker"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/relist"
)

// relisting is the asking for a backend's lists again. The zero value is ready;
// Backend.mu guards it.
type relisting struct {
	relist.Schedule
	armed bool // the timer runs
	timer *time.Timer

	lacking  bool // a list could not be had
	failures int  // how often in a row
	retry    *time.Timer
}

// BeginListing notes that somebody asks the server for its lists, until end.
func (b *Backend) BeginListing() (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relisting.Begin()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.relisting.End()
	}
}

func (r *relisting) stop() {
	for _, t := range []*time.Timer{r.timer, r.retry} {
		if t != nil {
			t.Stop()
		}
	}
}

// restart starts a timer anew, making it where there is none.
func restart(t **time.Timer, d time.Duration, f func()) {
	if *t == nil {
		*t = time.AfterFunc(d, f)
		return
	}
	(*t).Reset(d)
}

// listed notes whether all lists could be had. What could not is asked for
// again, later and later, as long as the server is connected, and with clients'
// lists where it is not; what it was before stays listed. The caller holds the lock.
func (b *Backend) listed(whole bool) {
	r := &b.relisting
	r.lacking = !whole
	if whole || b.life.closed {
		r.failures = 0
		if r.retry != nil {
			r.retry.Stop()
		}
		return
	}
	r.failures++
	restart(&r.retry, breaker.Discovering().After(r.failures, b.Set.Random()), func() { b.Changed(inventory.ListSet{}) })
}

// Changed notes that the backend's lists have changed, and which it says so of.
func (b *Backend) Changed(said inventory.ListSet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relisting.NoteSaid(said, time.Now())
	b.relist()
}

// relist has changed lists asked for, once at a time: an older answer must not
// replace a newer one. The caller holds the lock.
func (b *Backend) relist() {
	r := &b.relisting
	if b.life.closed || !r.Stale || r.Asking > 0 || r.armed {
		return // or the goroutine that lists comes here again
	}
	r.armed = true
	restart(&r.timer, r.Pause(), b.relistNow)
}

func (b *Backend) relistNow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &b.relisting
	r.armed = false
	if b.life.closed {
		return
	}
	said := r.TakeSaid()
	r.Begin()
	b.Set.Work.Go(func() { b.Reload(said) })
}

// Reload asks a connected backend for its lists. What it has said is passed on
// even where they look the same: more can change about a tool than its
// description.
func (b *Backend) Reload(said inventory.ListSet) {
	news, whole := false, false
	c := b.Primary.Ready.Load()
	if c != nil {
		offers, err := inventory.Load(b.life.ctx, b.Log, c.Client)
		if err != nil {
			b.Log.Warn("cannot list a changed backend", "err", err)
		} else {
			offers.Offer, whole = c.Offer, offers.Whole()
			news = b.Set.Observer.Listed(b, offers, said)
			b.Save(offers)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relisting.End()
	b.relisting.NoteAsked(news, time.Now())
	if c != nil { // or connecting asks
		b.listed(whole)
	}
	b.relist()
}
