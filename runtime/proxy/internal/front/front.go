package front

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Front is a way in for clients.
type Front interface {
	// Busy is how many requests are being answered: what is to be waited for
	// before the front is ended. A listen is none.
	Busy() int
	// Clients tells who has come by it and is still there.
	Clients() []upstream.ClientInfo
	// Stateless counts requests that belong to no session.
	Stateless() StatelessInfo
	// Bounds tells of what is bounded for all its clients together.
	Bounds() []limits.Bound
}

// Set are those of a proxy, and what they share.
type Set struct {
	Router *router.Router
	Budget *limits.Budget

	Mu  sync.Mutex // taken to change all, not to read it
	all atomic.Pointer[[]Front]
	// Draining tells that no new request is taken.
	Draining atomic.Bool
}

func NewSet(rt *router.Router) *Set { return &Set{Router: rt, Budget: rt.Budget} }

// Enter notes a front; the function takes it back.
func (f *Set) Enter(one Front) (leave func()) {
	f.change(func(all []Front) []Front { return append(all, one) })
	return func() {
		f.change(func(all []Front) []Front {
			return slices.DeleteFunc(all, func(other Front) bool { return other == one })
		})
	}
}

func (f *Set) change(by func([]Front) []Front) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	all := by(slices.Clone(f.List()))
	f.all.Store(&all)
}

func (f *Set) List() []Front {
	if all := f.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (f *Set) busy() (n int) {
	for _, one := range f.List() {
		n += one.Busy()
	}
	return n
}

// drainStep is how often Drain looks whether requests are still under way:
// nothing on the call path tells of the last one.
const drainStep = 5 * time.Millisecond

// Drain has the fronts refuse new requests, and returns when those in flight
// have been answered, or ctx ends. Answers to questions, cancellations, streams
// that are taken up again and listens go on until the fronts end, which is the
// next step: nothing here ends anything. Calls that wait for a client to come
// back with answers are not waited for.
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
		if quiet++; f.busy() > 0 {
			quiet = 0
		}
	}
}

// Ready tells whether new requests are taken. It takes no lock.
func (f *Set) Ready() bool { return !f.Draining.Load() }

// DrainingError is the error object for a request that comes too late.
func DrainingError() []byte { return router.Failed("", upstream.ErrProxyClosed).Object }

// StatelessInfo counts requests that belong to no session; see
// proxy.StatelessStatus.
type StatelessInfo struct {
	Requests uint64
	InFlight int64
	LastSeen time.Time
}

// Clients tells who has come by all fronts.
func (f *Set) Clients() (all []upstream.ClientInfo, sum StatelessInfo) {
	for _, one := range f.List() {
		all = append(all, one.Clients()...)
		s := one.Stateless()
		sum.Requests += s.Requests
		sum.InFlight += s.InFlight
		if s.LastSeen.After(sum.LastSeen) {
			sum.LastSeen = s.LastSeen
		}
	}
	return all, sum
}

// Bounds tells how much is in use of what is bounded for all clients together, and
// for each front.
func (f *Set) Bounds() []limits.Bound {
	out := f.Budget.Bounds()
	for _, one := range f.List() {
		out = append(out, one.Bounds()...)
	}
	return out
}
