// Package workers runs functions on goroutines that are used again.
//
// A goroutine begins with a small stack. A call that goes through a proxy and
// net/http needs a larger one, and copying it while it grows takes several
// microseconds a call, which a goroutine that has it already saves.
package workers

import "sync"

// maxIdle bounds the goroutines that wait for work; beyond it they end. Each
// holds the stack that its work has needed, some 8 to 32 KiB.
const maxIdle = 64

// Pool runs functions on goroutines. The zero value is ready; all methods may be
// called concurrently.
type Pool struct {
	work sync.WaitGroup

	mu     sync.Mutex // guards what follows
	idle   []chan func()
	closed bool
}

// Go runs f on a goroutine that Close waits for; false when closed.
func (p *Pool) Go(f func()) bool {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return false
	}
	if n := len(p.idle); n > 0 {
		next := p.idle[n-1] // the one whose stack was used last
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		next <- f // has a place
		return true
	}
	p.work.Go(func() { p.serve(f) })
	p.mu.Unlock()
	return true
}

// serve runs f, and what comes then.
func (p *Pool) serve(f func()) {
	next := make(chan func(), 1)
	for f != nil {
		f()
		p.mu.Lock()
		if p.closed || len(p.idle) >= maxIdle {
			p.mu.Unlock()
			return
		}
		p.idle = append(p.idle, next)
		p.mu.Unlock()
		f = <-next
	}
}

// Close ends the goroutines that wait, refuses further work, and waits for what
// is under way.
func (p *Pool) Close() {
	p.Refuse()
	p.work.Wait()
}

// Refuse is Close without waiting.
func (p *Pool) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, next := range p.idle {
		close(next)
	}
	p.idle = nil
}
