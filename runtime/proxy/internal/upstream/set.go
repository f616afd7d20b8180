package upstream

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"

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

// Options are settings of a set of backends. All but Store and Roots are required.
type Options struct {
	// Dial connects to a server; see proxy.Dial.
	Dial func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error)
	// RequestTimeout holds where a server has none of its own; negative is no bound.
	RequestTimeout time.Duration
	// Info is who servers are told that their clients are, as JSON.
	Info json.RawMessage
	// Roots are the proxy's own, a raw array; nil is none.
	Roots json.RawMessage
	// Store keeps what is learned of servers; nil keeps nothing.
	Store  Store
	Logger *slog.Logger
}

// Set is the backends and what they share. All methods may be called
// concurrently.
type Set struct {
	o        Options
	Log      *slog.Logger
	Observer Observer

	Roster  atomic.Pointer[[]*Backend] // in configured order; the slice is never edited
	reaper  reaper
	keeping keeping
	begun   atomic.Bool            // there is a client, or will be
	Solo    atomic.Pointer[Client] // the only client there will be, nil where others may come
	Random  func() float64         // shortens what is waited for, at least 0 and less than 1

	Lifetime context.Context //nolint:containedctx // that of the backends, ended by Close
	cancel   context.CancelFunc
	Work     sync.WaitGroup // connecting and listing

	Mu      sync.Mutex // guards what follows
	leaving []*Backend // that are in no configuration any more, and have calls; replaced whole
}

// Observer hears what servers and their connections do. Its methods may be called
// concurrently and must not wait, but for opening and question.
type Observer interface {
	// Listed takes what a backend offers now, nil where only its failure is new,
	// and which lists it has said to have changed. It reports whether any list of
	// clients has changed.
	Listed(b *Backend, offers *inventory.Inventory, said inventory.ListSet) (news bool)
	// Opening runs before calls go over a new connection.
	Opening(ctx context.Context, c *Conn)
	// Question answers a request of a server that names no call.
	Question(ctx context.Context, c *Conn, method string, params json.RawMessage) (json.RawMessage, error)
	// Logged takes a log message that names no call.
	Logged(c *Conn, params json.RawMessage)
	// ResourceUpdated takes notifications/resources/updated.
	ResourceUpdated(l *Slot, params json.RawMessage)
	// Moved says that a client's calls to a backend go over a slot from now on.
	// The backend's lock is held.
	Moved(who *Client, l *Slot)
	// Replaced says that a backend is out of use, and what has come in its place,
	// nil for nothing. ended follows when its last call has ended.
	Replaced(old, successor *Backend)
	Ended(b *Backend)
}

// NewSet returns a set without backends. Its observer is to be set before it is
// used.
func NewSet(o Options) *Set {
	s := &Set{o: o, Log: o.Logger, Random: rand.Float64}
	s.Lifetime, s.cancel = context.WithCancel(context.Background())
	return s
}

// All returns the backends in configured order.
func (s *Set) All() []*Backend {
	if all := s.Roster.Load(); all != nil {
		return *all
	}
	return nil
}

// Draining returns the backends that are configured no more and have calls.
func (s *Set) Draining() []*Backend {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.leaving
}

// End stops everything that goes on by itself. Close follows.
func (s *Set) End() {
	s.cancel()
	s.reaper.stop()
}

// Close ends all backends, side by side, and returns when they are gone. No
// adopt may run meanwhile.
func (s *Set) Close() {
	var wg sync.WaitGroup
	for _, b := range s.All() {
		wg.Go(b.close)
	}
	wg.Wait()
	s.Work.Wait()
	for _, b := range s.All() {
		b.KeepUsage()
	}
	s.flush()
}

// Release closes what was a client's own: its session is over.
func (s *Set) Release(who *Client) {
	for _, b := range s.All() {
		b.closeClient(who)
	}
}

// Adopt puts the backends of another configuration in the place of those before.
func (s *Set) Adopt(r *Reconfiguration) {
	s.Mu.Lock()
	for _, b := range r.Made {
		for _, old := range s.leaving { // removed a moment ago, and back
			if old.Name == b.Name {
				b.Primary.ending = old.gone // the latest
			}
		}
	}
	for old, successor := range r.Left {
		s.leaving = append(slices.Clip(s.leaving), old)
		if successor != nil {
			successor.Primary.ending = old.gone // some programs cannot run twice
		}
	}
	s.Mu.Unlock()
	for b, set := range r.Adjust {
		b.reconfigure(set)
	}
	s.Roster.Store(&r.Roster)
}

// forget drops a backend whose calls have ended.
func (s *Set) forget(b *Backend) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.leaving = slices.DeleteFunc(slices.Clone(s.leaving), func(other *Backend) bool { return other == b })
}

// Replace takes the backends that have been replaced out of use, and connects what
// is always to be connected.
func (s *Set) Replace(r *Reconfiguration) {
	for old, successor := range r.Left {
		old.replace(successor)
	}
	for _, b := range r.Roster {
		if s.begun.Load() {
			b.Start()
		}
	}
}
