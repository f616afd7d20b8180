package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// ErrReplaced is a request that has come to a backend which another configuration
// has replaced or removed in the moment before. Nothing was sent.
var ErrReplaced = errors.New("its entry in the configuration has just been changed")

// maxReplacedRetries bounds how often a request is taken to another backend: each time takes
// another configuration.
const maxReplacedRetries = 20

// RetryReplaced does what finds a backend and asks it something again, where the backend
// was replaced in between: it finds the new one then.
func RetryReplaced[T any](do func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := do()
		if n == maxReplacedRetries || !errors.Is(err, ErrReplaced) {
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
	p := b.Set
	b.Mu.Lock()
	b.closed = true
	close(b.replacedSignal)
	b.Relisting.stop()
	var idle, busy []*Conn
	var ending []<-chan struct{} // what is being connected or closed already
	for _, l := range b.everySlot() {
		if l.ending != nil {
			ending = append(ending, l.ending)
		}
		if l.attempt != nil {
			ending = append(ending, l.attempt.done)
		}
		switch c := l.Ready.Swap(nil); {
		case c == nil:
		case c.CloseIfIdle():
			idle = append(idle, c)
		default:
			busy = append(busy, c)
		}
	}
	b.busyConns = busy
	b.publishFastPath()
	b.Mu.Unlock()
	if len(busy) == 0 {
		b.end() // nobody waits for what is being connected
	} else {
		ending = nil // it may take as long as the calls
	}
	p.Observer.Replaced(b, successor)
	p.Work.Go(func() { // bounded by what closing takes
		var wg sync.WaitGroup
		for _, c := range idle {
			wg.Go(func() { _ = c.Client.Close() })
		}
		wg.Wait()
		for _, ended := range ending {
			<-ended
		}
		close(b.gone)
	})
	p.Work.Go(func() { b.drain(busy) }) // bounded by leaveTime and what closing takes
}

// drain closes connections when the calls over them have ended, and with the last
// the backend.
func (b *Backend) drain(busy []*Conn) {
	p := b.Set
	bound := maxDrain
	if limit := b.Config().RequestTimeout; limit > 0 {
		bound = min(bound, limit)
	}
	ctx, cancel := context.WithTimeout(p.Lifetime, bound)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range busy {
		wg.Go(func() { c.drain(ctx) })
	}
	wg.Wait()
	<-b.gone
	b.KeepUsage()
	b.close()
	p.forget(b)
	p.Observer.Ended(b)
	b.Log.Info("backend ended: its entry has gone or changed")
}

// IsReplaced tells whether another configuration has taken the backend out of use.
func (b *Backend) IsReplaced() bool {
	select {
	case <-b.replacedSignal:
		return true
	default:
		return false
	}
}

// closedError tells why nothing connects to a backend that is closed.
func (b *Backend) closedError() error {
	if b.IsReplaced() {
		return ErrReplaced
	}
	return ErrProxyClosed
}

// ExplainClosed tells of a connection that was closed under a call why it was.
func (b *Backend) ExplainClosed(err error) error {
	if b.IsReplaced() && errors.Is(err, runtime.ErrClosed) {
		return fmt.Errorf("its entry in the configuration has changed, and the call took too long to be waited for: %w", err)
	}
	return err
}
