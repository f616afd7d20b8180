package upstream

import (
	"sync"
	"time"
)

// Rounds call a function every so often, for as long as it says that there is more to
// look at. All methods may be called concurrently.
type Rounds struct {
	every time.Duration
	work  *sync.WaitGroup // counts a call that is under way
	look  func() (more bool)

	mu     sync.Mutex // guards what follows; no other lock is taken under it
	timer  *time.Timer
	next   time.Time // when it is called next, zero while nothing is to be looked at
	closed bool
}

// NewRounds returns rounds that have not begun.
func NewRounds(every time.Duration, work *sync.WaitGroup, look func() (more bool)) *Rounds {
	return &Rounds{every: every, work: work, look: look}
}

// Begin begins the rounds, if they are not under way: there is something to look at.
func (r *Rounds) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.next.IsZero() {
		return
	}
	r.next = time.Now().Add(r.every)
	if r.timer == nil {
		r.timer = time.AfterFunc(r.every, r.run)
		return
	}
	r.timer.Reset(r.every)
}

// Next returns when the function is called next, zero where it will not be.
func (r *Rounds) Next() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Stop ends the rounds for good. A call that is under way goes on.
func (r *Rounds) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *Rounds) run() {
	r.mu.Lock()
	r.next = time.Time{}
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.work.Add(1)
	r.mu.Unlock()
	defer r.work.Done()
	if r.look() {
		r.Begin()
	}
}
