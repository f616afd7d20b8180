package proxy

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// setOptions are settings of a set of backends. All but Store and Roots are required.
type setOptions struct {
	// Dial connects to a server; see proxy.Dial.
	Dial func(ctx context.Context, key key, h runtime.Handler) (*runtime.Client, error)
	// RequestTimeout holds where a server has none of its own; negative is no bound.
	RequestTimeout time.Duration
	// Info is who servers are told that their clients are, as JSON.
	Info json.RawMessage
	// Roots are the proxy's own, a raw array; nil is none.
	Roots json.RawMessage
	// Store keeps what is learned of servers; nil keeps nothing.
	Store  storage
	Logger *slog.Logger
}

// Set is the backends and what they share. All methods may be called
// concurrently.
type Set struct {
	o        setOptions
	log      *slog.Logger
	observer Observer

	roster  atomic.Pointer[[]*Backend] // in configured order; the slice is never edited
	reaper  reaper
	keeping keeping
	begun   atomic.Bool            // there is a client, or will be
	solo    atomic.Pointer[Client] // the only client there will be, nil where others may come
	random  func() float64         // shortens what is waited for, at least 0 and less than 1

	lifetime context.Context //nolint:containedctx // that of the backends, ended by Close
	cancel   context.CancelFunc
	work     sync.WaitGroup // connecting and listing

	mu      sync.Mutex // guards what follows
	leaving []*Backend // that are in no configuration any more, and have calls; replaced whole
}

// Observer hears what servers and their connections do. Its methods may be called
// concurrently and must not wait, but for opening and question.
type Observer interface {
	// listed takes what a backend offers now, nil where only its failure is new,
	// and which lists it has said to have changed. It reports whether any list of
	// clients has changed.
	listed(b *Backend, offers *Inventory, said changeKinds) (news bool)
	// opening runs before calls go over a new connection.
	opening(ctx context.Context, c *Conn)
	// question answers a request of a server that names no call.
	question(ctx context.Context, c *Conn, method string, params json.RawMessage) (json.RawMessage, error)
	// logged takes a log message that names no call.
	logged(c *Conn, params json.RawMessage)
	// resourceUpdated takes notifications/resources/updated.
	resourceUpdated(l *Slot, params json.RawMessage)
	// moved says that a client's calls to a backend go over a slot from now on.
	// The backend's lock is held.
	moved(who *Client, l *Slot)
	// replaced says that a backend is out of use, and what has come in its place,
	// nil for nothing. ended follows when its last call has ended.
	replaced(old, successor *Backend)
	ended(b *Backend)
}

// newSet returns a set without backends. Its observer is to be set before it is
// used.
func newSet(o setOptions) *Set {
	s := &Set{o: o, log: o.Logger, random: rand.Float64}
	s.lifetime, s.cancel = context.WithCancel(context.Background())
	return s
}

// all returns the backends in configured order.
func (s *Set) all() []*Backend {
	if all := s.roster.Load(); all != nil {
		return *all
	}
	return nil
}

// draining returns the backends that are configured no more and have calls.
func (s *Set) draining() []*Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}

// end stops everything that goes on by itself. Close follows.
func (s *Set) end() {
	s.cancel()
	s.reaper.stop()
}

// close ends all backends, side by side, and returns when they are gone. No
// adopt may run meanwhile.
func (s *Set) close() {
	var wg sync.WaitGroup
	for _, b := range s.all() {
		wg.Go(b.close)
	}
	wg.Wait()
	s.work.Wait()
	for _, b := range s.all() {
		b.keepUsage()
	}
	s.flush()
}

// release closes what was a client's own: its session is over.
func (s *Set) release(who *Client) {
	for _, b := range s.all() {
		b.closeClient(who)
	}
}

// adopt puts the backends of another configuration in the place of those before.
func (s *Set) adopt(r *reshaping) {
	s.mu.Lock()
	for _, b := range r.made {
		for _, old := range s.leaving { // removed a moment ago, and back
			if old.name == b.name {
				b.primary.ending = old.gone // the latest
			}
		}
	}
	for old, successor := range r.left {
		s.leaving = append(slices.Clip(s.leaving), old)
		if successor != nil {
			successor.primary.ending = old.gone // some programs cannot run twice
		}
	}
	s.mu.Unlock()
	for b, set := range r.adjust {
		b.reconfigure(set)
	}
	s.roster.Store(&r.roster)
}

// forget drops a backend whose calls have ended.
func (s *Set) forget(b *Backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = slices.DeleteFunc(slices.Clone(s.leaving), func(other *Backend) bool { return other == b })
}

// replace takes the backends that have been replaced out of use, and connects what
// is always to be connected.
func (s *Set) replace(r *reshaping) {
	for old, successor := range r.left {
		old.replace(successor)
	}
	for _, b := range r.roster {
		if s.begun.Load() {
			b.start()
		}
	}
}
