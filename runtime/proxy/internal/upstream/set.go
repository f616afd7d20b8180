package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// Options are settings of a set of backends. All but Store and Roots are required.
type Options struct {
	// Dial connects to a server; see proxy.Dial.
	Dial func(ctx context.Context, key Key, principal *access.Principal, h runtime.Handler) (*runtime.Client, error)
	// RequestTimeout holds where a server has none of its own; negative is no bound.
	RequestTimeout time.Duration
	// Info is who servers are told that their clients are, as JSON.
	Info json.RawMessage
	// Roots are the proxy's own, a raw array; nil is none.
	Roots json.RawMessage
	// Store keeps what is learned of servers; nil keeps nothing.
	Store  Store
	Logger *slog.Logger
	// Single says that the proxy stands for its one server.
	Single bool
}

// Set is the backends and what they share. All methods may be called
// concurrently.
type Set struct {
	o        Options
	Log      *slog.Logger
	Observer Observer

	Roster       atomic.Pointer[[]*Backend] // in configured order; the slice is never edited
	reaper       *Ticker                    // close idle connections, all servers' in one go
	persisting   *writeQueue
	sees         atomic.Pointer[func(*Backend) bool] // whether the client that there is, or will be, may see a server; nil before Begin
	SingleClient atomic.Pointer[Client]              // the only client there will be, nil where others may come
	Turns        *StartLimiter                       // to start servers on this machine
	Random       func() float64                      // shortens what is waited for, at least 0 and less than 1

	Lifetime context.Context //nolint:containedctx // that of the backends, ended by End
	cancel   context.CancelFunc
	Work     sync.WaitGroup // connecting and listing

	mu       sync.Mutex
	draining []*Backend // configured no more, with calls; replaced whole
}

// Observer hears what servers and their connections do. Its methods may be called
// concurrently and must not wait, but for Opening, Opened and Question.
type Observer interface {
	// Listed takes what a backend offers now, nil where only its failure is new,
	// and which lists it has said to have changed. It reports whether any list of
	// clients has changed.
	Listed(b *Backend, offers *inventory.Inventory, said inventory.ListSet) (news bool)
	// Opening runs before calls go over a new connection, Opened when they do: what clients
	// have said between the two has reached no connection.
	Opening(ctx context.Context, c *Conn)
	Opened(ctx context.Context, c *Conn)
	// Question answers a request of a server that names no call.
	Question(ctx context.Context, c *Conn, method string, params json.RawMessage) (json.RawMessage, error)
	// Logged takes a log message that names no call.
	Logged(c *Conn, params json.RawMessage)
	// ResourceUpdated takes notifications/resources/updated.
	ResourceUpdated(s *Slot, params json.RawMessage)
	// Moved says that a client's calls to a backend go over a slot from now on.
	// The backend's lock is held.
	Moved(client *Client, s *Slot)
	// Replaced says that a backend is out of use, and what has come in its place,
	// nil for nothing. Ended follows when its last call has ended.
	Replaced(old, successor *Backend)
	Ended(b *Backend)
}

// NewSet returns a set without backends. Its observer is to be set before it is
// used.
func NewSet(o Options) *Set {
	s := &Set{o: o, Log: o.Logger, Random: rand.Float64, Turns: NewStartLimiter()}
	s.Lifetime, s.cancel = deadline.WithEnd(context.Background())
	s.reaper = NewTicker(ReapEvery, &s.Work, s.reap)
	s.persisting = newWriteQueue(s.Lifetime, &s.Work, o.Store, o.Logger)
	return s
}

// All returns the backends in configured order.
func (s *Set) All() []*Backend {
	if all := s.Roster.Load(); all != nil {
		return *all
	}
	return nil
}

// Named returns the backend of a name, nil where there is none.
func (s *Set) Named(name string) *Backend {
	for _, b := range s.All() {
		if b.Name == name {
			return b
		}
	}
	return nil
}

// Draining returns the backends that are configured no more and have calls.
func (s *Set) Draining() []*Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// HasBegun reports whether Begin was called.
func (s *Set) HasBegun() bool { return s.sees.Load() != nil }

// Start connects, in the background, the servers that are always to be connected and those
// of which nothing is known: there is a client, or will be. sees reports whether it may see
// a server.
func (s *Set) Start(sees func(*Backend) bool) {
	if !s.sees.CompareAndSwap(nil, &sees) {
		return
	}
	for _, b := range s.All() {
		b.Start()
	}
}

// End stops everything that goes on by itself. Close follows.
func (s *Set) End() {
	s.cancel()
	s.reaper.Stop()
}

// Close ends all backends, side by side, and returns when they are gone. No
// Adopt may run meanwhile.
func (s *Set) Close() {
	var wg sync.WaitGroup
	for _, b := range s.All() {
		wg.Go(b.close)
	}
	wg.Wait()
	s.Work.Wait()
	for _, b := range s.All() {
		b.Persisted.SaveUsage()
	}
	s.persisting.Flush()
}

// Release closes what was a client's own: its session is over.
func (s *Set) Release(client *Client) {
	for _, b := range s.All() {
		b.Pool.closeClient(client)
	}
}

// WithPipe returns the connections that fast calls may be pending on.
func (s *Set) WithPipe() (all []*Conn) {
	for _, b := range slices.Concat(s.All(), s.Draining()) {
		for _, c := range b.Pool.Connections() {
			if c.Pipe != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// HasRoots reports whether the configuration has roots.
func (s *Set) HasRoots() bool { return len(s.o.Roots) > 0 }

// Roots answers a server that asks for roots outside any call, or for those of a
// client that has none.
func (s *Set) Roots() json.RawMessage {
	if !s.HasRoots() {
		return json.RawMessage(`{"roots":[]}`)
	}
	return append(append(json.RawMessage(`{"roots":`), s.o.Roots...), '}')
}

// WithRoots returns what a client can be asked with roots among it, where the
// configuration has some to answer with.
func (s *Set) WithRoots(capabilities json.RawMessage) json.RawMessage {
	if !s.HasRoots() {
		return capabilities
	}
	return client.WithRoots(capabilities)
}

// declares returns what servers are told over shared connections that they can
// ask: what the only client has declared, or all that any may come to declare.
func (s *Set) declares() string {
	if offer, only := s.onlyClientsOffer(); only {
		return offer
	}
	return SharedOffer
}

// onlyClientsOffer returns what the only client, which is of the handshake era, has
// declared that it can be asked; false where there may be others, or of the other era.
func (s *Set) onlyClientsOffer() (offer string, only bool) {
	client := s.SingleClient.Load()
	if client == nil {
		return "", false
	}
	version, capabilities := client.TermsOf()
	if version == "" {
		return "", false
	}
	return string(s.WithRoots(revision.Offer(capabilities, version, revision.Latest))), true
}
