package proxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// errLeft is a request that has come to a backend which another configuration
// has replaced or removed in the moment before. Nothing was sent.
var errLeft = errors.New("its entry in the configuration has just been changed")

// maxAnew bounds how often a request is taken to another backend: each time takes
// another configuration.
const maxAnew = 20

// anew does what finds a backend and asks it something again, where the backend
// was replaced in between: it finds the new one then.
func anew[T any](do func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := do()
		if n == maxAnew || !errors.Is(err, errLeft) {
			return v, err
		}
	}
}

// leaveTime bounds how long calls to a backend that goes are waited for.
const leaveTime = 30 * time.Second

// depart takes the backend out of use: nothing connects any more, calls under
// way go on for a while. What clients have with it goes to its successor where
// it can, nil for none. It does not wait.
func (b *backend) depart(successor *backend) {
	p := b.p
	b.mu.Lock()
	b.closed = true
	close(b.left)
	b.lists.stop()
	var idle, busy []*connection
	var ending []<-chan struct{} // what is being connected or closed already
	for _, l := range b.everyLink() {
		if l.ending != nil {
			ending = append(ending, l.ending)
		}
		if l.attempt != nil {
			ending = append(ending, l.attempt.done)
		}
		switch c := l.ready.Swap(nil); {
		case c == nil:
		case c.dismiss():
			idle = append(idle, c)
		default:
			busy = append(busy, c)
		}
	}
	b.going = busy
	b.expose()
	b.mu.Unlock()
	if len(busy) == 0 {
		b.end() // nobody waits for what is being connected
	} else {
		ending = nil // it may take as long as the calls
	}
	p.observer.replaced(b, successor)
	p.work.Go(func() { // bounded by what closing takes
		var wg sync.WaitGroup
		for _, c := range idle {
			wg.Go(func() { _ = c.client.Close() })
		}
		wg.Wait()
		for _, ended := range ending {
			<-ended
		}
		close(b.gone)
	})
	p.work.Go(func() { b.drain(busy) }) // bounded by leaveTime and what closing takes
}

// drain closes connections when the calls over them have ended, and with the last
// the backend.
func (b *backend) drain(busy []*connection) {
	p := b.p
	bound := leaveTime
	if limit := b.set().RequestTimeout; limit > 0 {
		bound = min(bound, limit)
	}
	ctx, cancel := context.WithTimeout(p.lifetime, bound)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range busy {
		wg.Go(func() { c.retire(ctx) })
	}
	wg.Wait()
	<-b.gone
	b.keepUsage()
	b.close()
	p.forget(b)
	p.observer.ended(b)
	b.log.Info("backend ended: its entry has gone or changed")
}

// hasLeft tells whether another configuration has taken the backend out of use.
func (b *backend) hasLeft() bool {
	select {
	case <-b.left:
		return true
	default:
		return false
	}
}

// endedBy tells why nothing connects to a backend that is closed.
func (b *backend) endedBy() error {
	if b.hasLeft() {
		return errLeft
	}
	return errProxyClosed
}

// blame tells of a connection that was closed under a call why it was.
func (b *backend) blame(err error) error {
	if b.hasLeft() && errors.Is(err, runtime.ErrClosed) {
		return fmt.Errorf("its entry in the configuration has changed, and the call took too long to be waited for: %w", err)
	}
	return err
}
