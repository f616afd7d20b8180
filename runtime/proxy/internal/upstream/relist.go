package upstream

import (
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

const (
	// firstPause is how long a server that says its lists have changed is left
	// alone before it is asked for them: a burst of such messages counts once.
	// It is doubled for each time in quick succession, up to busyDoublings where
	// there was something new and up to idleDoublings where there was not: a
	// server may send the message whenever it is asked.
	firstPause    = 100 * time.Millisecond
	busyDoublings = 3 // doublings: 0.8 s
	idleDoublings = 8 // doublings: 25.6 s
	// echoTime is for how long after its lists were asked for a server's word
	// that they have changed may be no more than an answer to that; it is
	// believed maxTrusted times in a succession.
	echoTime   = 250 * time.Millisecond
	maxTrusted = 3
	// quietTime ends a succession, and so does a server that speaks after restTime of
	// silence when it was not just asked.
	quietTime = time.Minute
	restTime  = time.Second
)

// relistSchedule is when a server's lists are asked for again. The zero value is ready. Its
// user guards it, and has the timers.
type relistSchedule struct {
	Stale   bool // they have changed since they were asked for
	Asking  int  // how many ask for them
	doubled int
	last    time.Time
	asked   time.Time         // when asking last ended
	said    inventory.ListSet // what the server has said since, and is believed
	trusted int               // how often it was believed that might have been an echo
	heard   time.Time         // when it last said anything
}

// Begin notes that the lists are about to be asked for.
func (r *relistSchedule) Begin() {
	r.Stale = false
	r.Asking++
}

// End notes that they have been asked for.
func (r *relistSchedule) End() {
	r.Asking--
	r.asked = time.Now()
}

// NoteSaid notes what the server says has changed, which it may say over each of
// its connections.
func (r *relistSchedule) NoteSaid(lists inventory.ListSet, now time.Time) {
	r.Stale = true
	echo := r.Asking > 0 || now.Sub(r.asked) < echoTime
	if !echo && now.Sub(r.heard) > restTime {
		r.doubled, r.trusted = 0, 0
	}
	r.heard = now
	was := r.said
	if lists = lists.With(was); lists == was {
		return
	}
	if echo {
		if r.trusted >= maxTrusted {
			return
		}
		r.trusted++
	}
	r.said = lists
}

// TakeSaid returns what the server has said, and forgets it.
func (r *relistSchedule) TakeSaid() inventory.ListSet {
	said := r.said
	r.said = inventory.ListSet{}
	return said
}

// NoteAsked notes whether asking has shown anything new.
func (r *relistSchedule) NoteAsked(news bool, now time.Time) {
	most := idleDoublings
	if news {
		most = busyDoublings
	}
	r.doubled = min(r.doubled+1, most)
	if now.Sub(r.last) > quietTime {
		r.doubled, r.trusted = 0, 0
	}
	r.last = now
}

// Pause returns how long the server is left alone before it is asked.
func (r *relistSchedule) Pause() time.Duration { return firstPause << r.doubled }
