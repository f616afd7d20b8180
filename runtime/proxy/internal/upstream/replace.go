package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// Changes are the servers that another configuration changes, by name; see
// proxy.Changes.
type Changes struct{ Added, Removed, Replaced, Adjusted []string }

// Reconfiguration is what becomes of the backends.
type Reconfiguration struct {
	Changes
	Backends []*Backend
	Made     []*Backend            // those that were not there before
	Left     map[*Backend]*Backend // those that go, with what comes in their place, nil for nothing
	Adjust   map[*Backend]Settings // those that stay, with settings that are others
	Same     bool                  // nothing changes
}

// Compare returns what has to change.
func (s *Set) Compare(servers []Settings) *Reconfiguration {
	r := &Reconfiguration{Left: map[*Backend]*Backend{}, Adjust: map[*Backend]Settings{}}
	before := map[string]*Backend{}
	for _, b := range s.All() {
		before[b.Name] = b
	}
	for _, set := range servers {
		b := before[set.Name]
		delete(before, set.Name)
		switch {
		case b == nil:
			r.Added = append(r.Added, set.Name)
		case set.WithDefaults(s.o.RequestTimeout) == *b.Config():
			r.Backends = append(r.Backends, b)
			continue
		case (&set).Way() == b.Config().Way():
			r.Adjusted = append(r.Adjusted, set.Name)
			r.Backends, r.Adjust[b] = append(r.Backends, b), set
			continue
		default:
			r.Replaced = append(r.Replaced, set.Name)
		}
		made := NewBackend(s, set)
		r.Backends, r.Made = append(r.Backends, made), append(r.Made, made)
		if b != nil {
			r.Left[b] = made
		}
	}
	for _, b := range s.All() {
		if before[b.Name] != nil {
			r.Removed, r.Left[b] = append(r.Removed, b.Name), nil
		}
	}
	// What is replaced or new has made the roster another one.
	r.Same = len(r.Adjust) == 0 && slices.Equal(r.Backends, s.All())
	return r
}

// Adopt puts the backends of another configuration in the place of those before.
func (s *Set) Adopt(r *Reconfiguration) {
	s.mu.Lock()
	for _, b := range r.Made {
		for _, old := range s.draining { // removed a moment ago, and back
			if old.Name == b.Name {
				b.Primary.ending = old.life.gone // the latest
			}
		}
	}
	for old, successor := range r.Left {
		s.draining = append(slices.Clip(s.draining), old)
		if successor != nil {
			successor.Primary.ending = old.life.gone // some programs cannot run twice
		}
	}
	s.mu.Unlock()
	for b, set := range r.Adjust {
		b.reconfigure(set)
	}
	s.Roster.Store(&r.Backends)
}

// Replace takes the backends that have been replaced out of use, and connects what
// is to be connected, see Backend.Start.
func (s *Set) Replace(r *Reconfiguration) {
	for old, successor := range r.Left {
		old.replace(successor)
	}
	for _, b := range r.Backends {
		if s.HasBegun() {
			b.Start()
		}
	}
}

// forget drops a backend whose calls have ended.
func (s *Set) forget(b *Backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = slices.DeleteFunc(slices.Clone(s.draining), func(other *Backend) bool { return other == b })
}

// ErrReplaced is a request for a backend that another configuration has replaced
// or removed in the moment before. Nothing was sent.
var ErrReplaced = errors.New("its entry in the configuration has just been changed")

// maxReplacedRetries bounds how often a request is taken to another backend: each
// time takes another configuration.
const maxReplacedRetries = 20

// RetryReplaced repeats do, which finds a backend and asks it something, where the
// backend was replaced in between: it finds the new one then.
func RetryReplaced[T any](do func() (T, error)) (T, error) {
	for n := 0; ; n++ {
		v, err := do()
		if n == maxReplacedRetries || !errors.Is(err, ErrReplaced) {
			return v, err
		}
	}
}

// reconfigure replaces the settings of a backend whose connections stay.
func (b *Backend) reconfigure(set Settings) {
	b.Pool.mu.Lock()
	defer b.Pool.mu.Unlock()
	b.SetSettings(set)
	b.Persisted.forget()
	b.Pool.publishFastPath()
}

// maxDrain bounds how long calls to a replaced backend are waited for.
const maxDrain = 30 * time.Second

// replace takes the backend out of use: nothing connects any more, calls in flight
// go on for a while. What clients have with it goes to its successor where it can,
// nil for none. It does not wait.
func (b *Backend) replace(successor *Backend) {
	set := b.Set
	b.Pool.mu.Lock()
	b.Pool.closed = true
	close(b.life.replaced)
	b.Lists.stop()
	var idle, busy []*Conn
	var ending []<-chan struct{} // what is being connected or closed already
	for _, s := range b.Pool.everySlot() {
		if s.ending != nil {
			ending = append(ending, s.ending)
		}
		if s.attempts.current != nil {
			ending = append(ending, s.attempts.current.done)
		}
		switch c := s.Ready.Swap(nil); {
		case c == nil:
		case c.CloseIfIdle():
			idle = append(idle, c)
		default:
			busy = append(busy, c)
		}
	}
	b.Pool.busy = busy
	b.Pool.publishFastPath()
	b.Pool.mu.Unlock()
	if len(busy) == 0 {
		b.life.end() // nobody waits for what is being connected
	} else {
		ending = nil // it may take as long as the calls
	}
	set.Observer.Replaced(b, successor)
	set.Work.Go(func() { // bounded by what closing takes
		var wg sync.WaitGroup
		for _, c := range idle {
			wg.Go(func() { _ = c.Client.Close() })
		}
		wg.Wait()
		for _, ended := range ending {
			<-ended
		}
		close(b.life.gone)
	})
	set.Work.Go(func() { b.drain(busy) }) // bounded by maxDrain and what closing takes
}

// drain closes connections when the calls over them have ended, and with the last
// the backend.
func (b *Backend) drain(busy []*Conn) {
	bound := maxDrain
	if limit := b.Config().RequestTimeout; limit > 0 {
		bound = min(bound, limit)
	}
	ctx, cancel := context.WithTimeout(b.Set.Lifetime, bound)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range busy {
		wg.Go(func() { c.drain(ctx) })
	}
	wg.Wait()
	<-b.life.gone
	b.Persisted.SaveUsage()
	b.close()
	b.Set.forget(b)
	b.Set.Observer.Ended(b)
	b.Log.Info("backend ended: its entry has gone or changed")
}

// IsReplaced reports whether another configuration has taken the backend out of
// use.
func (b *Backend) IsReplaced() bool {
	select {
	case <-b.life.replaced:
		return true
	default:
		return false
	}
}

// closedError returns why nothing connects to a backend that is closed.
func (b *Backend) closedError() error {
	if b.IsReplaced() {
		return ErrReplaced
	}
	return ErrProxyClosed
}

// ExplainClosed adds to the error of a connection that was closed under a call why
// it was.
func (b *Backend) ExplainClosed(err error) error {
	if b.IsReplaced() && errors.Is(err, runtime.ErrClosed) {
		return fmt.Errorf("its entry in the configuration has changed, and the call took too long to be waited for: %w", err)
	}
	return err
}
