package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/breaker"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

const (
	// relistPause is how long a server that says its lists have changed is left
	// alone before it is asked for them: a burst of such messages counts once.
	// It is doubled for each time in quick succession, up to relistBusy where
	// there was something new and up to relistIdle where there was not: a
	// server may send the message whenever it is asked.
	relistPause = 100 * time.Millisecond
	relistBusy  = 3 // doublings: 0.8 s
	relistIdle  = 8 // doublings: 25.6 s
	// relistEcho is for how long after its lists were asked for a server's word
	// that they have changed may be no more than an answer to that; it is
	// believed relistTrust times in a succession.
	relistEcho  = 250 * time.Millisecond
	relistTrust = 3
	// relistQuiet ends a succession.
	relistQuiet = time.Minute
)

// relisting is when a backend's lists are asked for again. The zero value is
// ready; backend.mu guards it.
type relisting struct {
	stale   bool // they have changed since they were asked for
	asking  int  // connecting or reloading is at it
	armed   bool // the timer runs
	timer   *time.Timer
	doubled int
	last    time.Time
	asked   time.Time         // when asking last ended
	said    inventory.ListSet // what the server has said since, and is believed
	trusted int               // how often it was believed that might have been an echo

	lacking  bool // a list could not be had
	failures int  // how often in a row
	retry    *time.Timer
}

// Begin notes that the lists are about to be asked for.
func (r *relisting) Begin() {
	r.stale = false
	r.asking++
}

// End notes that they have been asked for.
func (r *relisting) End() {
	r.asking--
	r.asked = time.Now()
}

// heard notes what the server says has changed, which it may say over each of
// its connections.
func (r *relisting) heard(kinds inventory.ListSet, now time.Time) {
	was := r.said
	if kinds = kinds.With(was); kinds == was {
		return
	}
	if r.asking > 0 || now.Sub(r.asked) < relistEcho {
		if r.trusted >= relistTrust {
			return
		}
		r.trusted++
	}
	r.said = kinds
}

// told notes whether asking has shown anything new.
func (r *relisting) told(news bool, now time.Time) {
	most := relistIdle
	if news {
		most = relistBusy
	}
	r.doubled = min(r.doubled+1, most)
	if now.Sub(r.last) > relistQuiet {
		r.doubled, r.trusted = 0, 0
	}
	r.last = now
}

func (r *relisting) stop() {
	for _, t := range []*time.Timer{r.timer, r.retry} {
		if t != nil {
			t.Stop()
		}
	}
}

// listed notes whether all lists could be had. What could not is asked for
// again, later and later, as long as the server is connected, and with clients'
// lists where it is not; what it was before stays listed. The caller holds the lock.
func (b *Backend) listed(whole bool) {
	r := &b.Relisting
	r.lacking = !whole
	if whole || b.closed {
		r.failures = 0
		if r.retry != nil {
			r.retry.Stop()
		}
		return
	}
	r.failures++
	d := breaker.Discovering().After(r.failures, b.Set.Random())
	if r.retry == nil {
		r.retry = time.AfterFunc(d, func() { b.Changed(inventory.ListSet{}) })
		return
	}
	r.retry.Reset(d)
}

// Changed notes that the backend's lists have changed; kinds are those that it
// says so of.
func (b *Backend) Changed(kinds inventory.ListSet) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Relisting.heard(kinds, time.Now())
	b.Relisting.stale = true
	b.relist()
}

// relist sees to it that changed lists are asked for, once at a time: an older
// answer must not replace a newer one. The caller holds the lock.
func (b *Backend) relist() {
	r := &b.Relisting
	if b.closed || !r.stale || r.asking > 0 || r.armed {
		return // or whoever is at it comes here again
	}
	r.armed = true
	pause := relistPause << r.doubled
	if r.timer == nil {
		r.timer = time.AfterFunc(pause, b.expired)
		return
	}
	r.timer.Reset(pause)
}

func (b *Backend) expired() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Relisting.armed = false
	if b.closed {
		return
	}
	said := b.Relisting.said
	b.Relisting.said = inventory.ListSet{}
	b.Relisting.Begin()
	b.Set.Work.Go(func() { b.Reload(said) })
}

// Reload asks a connected backend for its lists. What it has said is passed on
// even where they look the same: more can change about a tool than its
// description.
func (b *Backend) Reload(said inventory.ListSet) {
	news, whole := false, false
	c := b.Primary.Ready.Load()
	if c != nil {
		cat, err := b.load(c.Client)
		if err != nil {
			b.Log.Warn("cannot list a changed backend", "err", err)
		} else {
			cat.Offer, whole = c.Offer, cat.Whole()
			news = b.Set.Observer.Listed(b, cat, said)
			b.Save(cat)
		}
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Relisting.End()
	b.Relisting.told(news, time.Now())
	if c != nil { // or connecting asks
		b.listed(whole)
	}
	b.relist()
}
