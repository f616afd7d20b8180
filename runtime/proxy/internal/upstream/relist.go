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
// ready; Backend.mu guards it.
type relisting struct {
	stale   bool // they have changed since they were asked for
	asking  int  // how many ask for them
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

// begin notes that the lists are about to be asked for, end that they have been.
func (r *relisting) begin() {
	r.stale = false
	r.asking++
}

func (r *relisting) end() {
	r.asking--
	r.asked = time.Now()
}

// BeginListing notes that somebody asks the server for its lists, until end.
func (b *Backend) BeginListing() (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.relisting.begin()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.relisting.end()
	}
}

// noteSaid notes what the server says has changed, which it may say over each of
// its connections.
func (r *relisting) noteSaid(lists inventory.ListSet, now time.Time) {
	was := r.said
	if lists = lists.With(was); lists == was {
		return
	}
	if r.asking > 0 || now.Sub(r.asked) < relistEcho {
		if r.trusted >= relistTrust {
			return
		}
		r.trusted++
	}
	r.said = lists
}

// noteAsked notes whether asking has shown anything new.
func (r *relisting) noteAsked(news bool, now time.Time) {
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
	b.relisting.noteSaid(said, time.Now())
	b.relisting.stale = true
	b.relist()
}

// relist has changed lists asked for, once at a time: an older answer must not
// replace a newer one. The caller holds the lock.
func (b *Backend) relist() {
	r := &b.relisting
	if b.life.closed || !r.stale || r.asking > 0 || r.armed {
		return // or whoever is at it comes here again
	}
	r.armed = true
	restart(&r.timer, relistPause<<r.doubled, b.relistNow)
}

func (b *Backend) relistNow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &b.relisting
	r.armed = false
	if b.life.closed {
		return
	}
	said := r.said
	r.said = inventory.ListSet{}
	r.begin()
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
	b.relisting.end()
	b.relisting.noteAsked(news, time.Now())
	if c != nil { // or connecting asks
		b.listed(whole)
	}
	b.relist()
}
