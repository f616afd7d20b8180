package upstream

import (
	"sync"
	"time"
)

// Ticker call a function every so often, for as long as it says that there is more to
// look at. All methods may be called concurrently.
type Ticker struct {
	every time.Duration
	work  *sync.WaitGroup // counts a call that is under way
	look  func() (more bool)

	mu     sync.Mutex // guards what follows; no other lock is taken under it
	timer  *time.Timer
	next   time.Time // when it is called next, zero while nothing is to be looked at
	closed bool
}

// NewTicker returns rounds that have not begun.
func NewTicker(every time.Duration, work *sync.WaitGroup, look func() (more bool)) *Ticker {
	return &Ticker{every: every, work: work, look: look}
}

// Start begins the rounds, if they are not under way: there is something to look at.
func (r *Ticker) Start() {
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
func (r *Ticker) Next() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Stop ends the rounds for good. A call that is under way goes on.
func (r *Ticker) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *Ticker) run() {
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
		r.Start()
	}
}
