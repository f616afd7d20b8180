// Package crew runs functions on goroutines that are used again.
//
// A goroutine begins with a small stack. A call that goes through a proxy and
// net/http needs a larger one, and copying it while it grows takes several
// microseconds a call, which a goroutine that has it already saves.
package crew

import "sync"

// maxIdle bounds the goroutines that wait for work; beyond it they end. Each
// holds the stack that its work has needed, some 8 to 32 KiB.
const maxIdle = 64

// Crew runs functions on goroutines. The zero value is ready; all methods may be
// called concurrently.
type Crew struct {
	work sync.WaitGroup

	mu     sync.Mutex // guards what follows
	idle   []chan func()
	closed bool
}

// Go runs f on a goroutine that Close waits for; false when closed.
func (c *Crew) Go(f func()) bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	if n := len(c.idle); n > 0 {
		next := c.idle[n-1] // the one whose stack was used last
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		next <- f // has a place
		return true
	}
	c.work.Go(func() { c.serve(f) })
	c.mu.Unlock()
	return true
}

// serve runs f, and what comes then.
func (c *Crew) serve(f func()) {
	next := make(chan func(), 1)
	for f != nil {
		f()
		c.mu.Lock()
		if c.closed || len(c.idle) >= maxIdle {
			c.mu.Unlock()
			return
		}
		c.idle = append(c.idle, next)
		c.mu.Unlock()
		f = <-next
	}
}

// Close ends the goroutines that wait, refuses further work, and waits for what
// is under way.
func (c *Crew) Close() {
	c.Refuse()
	c.work.Wait()
}

// Refuse is Close without waiting.
func (c *Crew) Refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
