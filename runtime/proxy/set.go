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

// backends is the backends and what they share. All methods may be called
// concurrently.
type backends struct {
	o        setOptions
	log      *slog.Logger
	observer observer

	roster  atomic.Pointer[[]*backend] // in configured order; the slice is never edited
	reaper  reaper
	keeping keeping
	begun   atomic.Bool          // there is a client, or will be
	solo    atomic.Pointer[peer] // the only client there will be, nil where others may come
	random  func() float64       // shortens what is waited for, at least 0 and less than 1

	lifetime context.Context //nolint:containedctx // that of the backends, ended by Close
	cancel   context.CancelFunc
	work     sync.WaitGroup // connecting and listing

	mu      sync.Mutex // guards what follows
	leaving []*backend // that are in no configuration any more, and have calls; replaced whole
}

// observer hears what servers and their connections do. Its methods may be called
// concurrently and must not wait, but for opening and question.
type observer interface {
	// listed takes what a backend offers now, nil where only its failure is new,
	// and which lists it has said to have changed. It reports whether any list of
	// clients has changed.
	listed(b *backend, offers *catalog, said changeKinds) (news bool)
	// opening runs before calls go over a new connection.
	opening(ctx context.Context, c *connection)
	// question answers a request of a server that names no call.
	question(ctx context.Context, c *connection, method string, params json.RawMessage) (json.RawMessage, error)
	// logged takes a log message that names no call.
	logged(c *connection, params json.RawMessage)
	// resourceUpdated takes notifications/resources/updated.
	resourceUpdated(l *link, params json.RawMessage)
	// moved says that a client's calls to a backend go over a slot from now on.
	// The backend's lock is held.
	moved(who *peer, l *link)
	// replaced says that a backend is out of use, and what has come in its place,
	// nil for nothing. ended follows when its last call has ended.
	replaced(old, successor *backend)
	ended(b *backend)
}

// newSet returns a set without backends. Its observer is to be set before it is
// used.
func newSet(o setOptions) *backends {
	s := &backends{o: o, log: o.Logger, random: rand.Float64}
	s.lifetime, s.cancel = context.WithCancel(context.Background())
	return s
}

// all returns the backends in configured order.
func (s *backends) all() []*backend {
	if all := s.roster.Load(); all != nil {
		return *all
	}
	return nil
}

// draining returns the backends that are configured no more and have calls.
func (s *backends) draining() []*backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}

// end stops everything that goes on by itself. Close follows.
func (s *backends) end() {
	s.cancel()
	s.reaper.stop()
}

// close ends all backends, side by side, and returns when they are gone. No
// adopt may run meanwhile.
func (s *backends) close() {
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
func (s *backends) release(who *peer) {
	for _, b := range s.all() {
		b.leave(who)
	}
}

// adopt puts the backends of another configuration in the place of those before.
func (s *backends) adopt(r *reshaping) {
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
		b.readjust(set)
	}
	s.roster.Store(&r.roster)
}

// forget drops a backend whose calls have ended.
func (s *backends) forget(b *backend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = slices.DeleteFunc(slices.Clone(s.leaving), func(other *backend) bool { return other == b })
}

// replace takes the backends that have been replaced out of use, and connects what
// is always to be connected.
func (s *backends) replace(r *reshaping) {
	for old, successor := range r.left {
		old.depart(successor)
	}
	for _, b := range r.roster {
		if s.begun.Load() {
			b.start()
		}
	}
}
