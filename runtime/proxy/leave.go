package proxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// errReplaced is a request that has come to a backend which another configuration
// has replaced or removed in the moment before. Nothing was sent.
var errReplaced = errors.New("its entry in the configuration has just been changed")

// maxReplacedRetries bounds how often a request is taken to another backend: each time takes
// another configuration.
const maxReplacedRetries = 20

// retryReplaced does what finds a backend and asks it something again, where the backend
// was replaced in between: it finds the new one then.
func retryReplaced[T any](do func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := do()
		if n == maxReplacedRetries || !errors.Is(err, errReplaced) {
			return v, err
		}
	}
}

// maxDrain bounds how long calls to a backend that goes are waited for.
const maxDrain = 30 * time.Second

// replace takes the backend out of use: nothing connects any more, calls under
// way go on for a while. What clients have with it goes to its successor where
// it can, nil for none. It does not wait.
func (b *Backend) replace(successor *Backend) {
	p := b.set
	b.mu.Lock()
	b.closed = true
	close(b.replacedSignal)
	b.relisting.stop()
	var idle, busy []*Conn
	var ending []<-chan struct{} // what is being connected or closed already
	for _, l := range b.everySlot() {
		if l.ending != nil {
			ending = append(ending, l.ending)
		}
		if l.attempt != nil {
			ending = append(ending, l.attempt.done)
		}
		switch c := l.ready.Swap(nil); {
		case c == nil:
		case c.closeIfIdle():
			idle = append(idle, c)
		default:
			busy = append(busy, c)
		}
	}
	b.busyConns = busy
	b.publishFastPath()
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
func (b *Backend) drain(busy []*Conn) {
	p := b.set
	bound := maxDrain
	if limit := b.config().RequestTimeout; limit > 0 {
		bound = min(bound, limit)
	}
	ctx, cancel := context.WithTimeout(p.lifetime, bound)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range busy {
		wg.Go(func() { c.drain(ctx) })
	}
	wg.Wait()
	<-b.gone
	b.keepUsage()
	b.close()
	p.forget(b)
	p.observer.ended(b)
	b.log.Info("backend ended: its entry has gone or changed")
}

// isReplaced tells whether another configuration has taken the backend out of use.
func (b *Backend) isReplaced() bool {
	select {
	case <-b.replacedSignal:
		return true
	default:
		return false
	}
}

// closedError tells why nothing connects to a backend that is closed.
func (b *Backend) closedError() error {
	if b.isReplaced() {
		return errReplaced
	}
	return errProxyClosed
}

// explainClosed tells of a connection that was closed under a call why it was.
func (b *Backend) explainClosed(err error) error {
	if b.isReplaced() && errors.Is(err, runtime.ErrClosed) {
		return fmt.Errorf("its entry in the configuration has changed, and the call took too long to be waited for: %w", err)
	}
	return err
}
