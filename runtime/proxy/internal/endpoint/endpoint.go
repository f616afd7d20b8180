package endpoint

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Endpoint is a way in for clients.
type Endpoint interface {
	// Busy returns how many requests are being answered; a listen is none. Set.Drain
	// waits until there are none.
	Busy() int
	// Clients returns who is there, and counts requests that belong to no session.
	Clients() ([]client.Info, StatelessInfo)
	// Bounds returns what is bounded for all its clients together.
	Bounds() []limits.Bound
}

// Set is the endpoints of a proxy, and what they share.
type Set struct {
	Router *router.Router
	Budget *limits.Budget

	Mu       sync.Mutex // held to change all, not to read it
	all      atomic.Pointer[[]Endpoint]
	Draining atomic.Bool // no new request is taken
}

// NewSet returns a set without endpoints.
func NewSet(rt *router.Router) *Set { return &Set{Router: rt, Budget: rt.Budget} }

// Enter adds an endpoint; leave removes it.
func (f *Set) Enter(one Endpoint) (leave func()) {
	change := func(edit func([]Endpoint) []Endpoint) {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		all := edit(slices.Clone(f.List()))
		f.all.Store(&all)
	}
	change(func(all []Endpoint) []Endpoint { return append(all, one) })
	return func() {
		change(func(all []Endpoint) []Endpoint {
			return slices.DeleteFunc(all, func(other Endpoint) bool { return other == one })
		})
	}
}

// List returns the endpoints. It takes no lock.
func (f *Set) List() []Endpoint {
	if all := f.all.Load(); all != nil {
		return *all
	}
	return nil
}

// drainStep is how often Drain looks for requests under way: nothing on the call
// path signals the last one.
const drainStep = 5 * time.Millisecond

// Drain has the endpoints refuse new requests, and returns when those in flight
// have been answered, or ctx ends. It ends nothing: answers to questions,
// cancellations, resumed streams and listens go on until the endpoints end. Calls
// that wait for a client to return with answers are not waited for.
func (f *Set) Drain(ctx context.Context) {
	f.Draining.Store(true)
	tick := time.NewTicker(drainStep)
	defer tick.Stop()
	// A request that was let in just now may not be counted yet.
	for quiet := 0; quiet < 2; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if quiet++; slices.ContainsFunc(f.List(), func(one Endpoint) bool { return one.Busy() > 0 }) {
			quiet = 0
		}
	}
}

// Ready reports whether new requests are taken. It takes no lock.
func (f *Set) Ready() bool { return !f.Draining.Load() }

// DrainingError returns the error object for a request that comes too late.
func DrainingError() []byte { return router.Failed("", upstream.ErrProxyClosed).Object }

// StatelessInfo counts requests that belong to no session; see
// proxy.StatelessStatus.
type StatelessInfo struct {
	Requests uint64
	InFlight int64
	LastSeen time.Time
}

// Clients returns the clients of all endpoints.
func (f *Set) Clients() (all []client.Info, sum StatelessInfo) {
	for _, one := range f.List() {
		clients, s := one.Clients()
		all = append(all, clients...)
		sum.Requests += s.Requests
		sum.InFlight += s.InFlight
		if s.LastSeen.After(sum.LastSeen) {
			sum.LastSeen = s.LastSeen
		}
	}
	return all, sum
}

// Bounds returns what is bounded for all clients together, and for each endpoint.
func (f *Set) Bounds() []limits.Bound {
	out := f.Budget.Bounds()
	for _, one := range f.List() {
		out = append(out, one.Bounds()...)
	}
	return out
}
