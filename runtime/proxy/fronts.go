package proxy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// front is a way in for clients.
type front interface {
	// busy is how many requests are being answered: what is to be waited for
	// before the front is ended. A listen is none.
	busy() int
	// clients tells who has come by it and is still there.
	clients() []clientInfo
	// stateless counts requests that belong to no session.
	stateless() statelessInfo
	// bounds tells of what is bounded for all its clients together.
	bounds() []bound
}

// frontSet are those of a proxy, and what they share.
type frontSet struct {
	rt     *Router
	budget *budget

	mu  sync.Mutex // taken to change all, not to read it
	all atomic.Pointer[[]front]
	// draining tells that no new request is taken.
	draining atomic.Bool
}

func newFronts(rt *Router) *frontSet { return &frontSet{rt: rt, budget: rt.budget} }

// enter notes a front; the function takes it back.
func (f *frontSet) enter(one front) (leave func()) {
	f.change(func(all []front) []front { return append(all, one) })
	return func() {
		f.change(func(all []front) []front {
			return slices.DeleteFunc(all, func(other front) bool { return other == one })
		})
	}
}

func (f *frontSet) change(by func([]front) []front) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := by(slices.Clone(f.list()))
	f.all.Store(&all)
}

func (f *frontSet) list() []front {
	if all := f.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (f *frontSet) busy() (n int) {
	for _, one := range f.list() {
		n += one.busy()
	}
	return n
}

// drainStep is how often Drain looks whether requests are still under way:
// nothing on the call path tells of the last one.
const drainStep = 5 * time.Millisecond

// drain has the fronts refuse new requests, and returns when those in flight
// have been answered, or ctx ends. Answers to questions, cancellations, streams
// that are taken up again and listens go on until the fronts end, which is the
// next step: nothing here ends anything. Calls that wait for a client to come
// back with answers are not waited for.
func (f *frontSet) drain(ctx context.Context) {
	f.draining.Store(true)
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

// ready tells whether new requests are taken. It takes no lock.
func (f *frontSet) ready() bool { return !f.draining.Load() }

// drainingError is the error object for a request that comes too late.
func drainingError() []byte { return failed("", errProxyClosed).object }

// statelessInfo counts requests that belong to no session; see
// proxy.StatelessStatus.
type statelessInfo struct {
	Requests uint64
	InFlight int64
	LastSeen time.Time
}

// clients tells who has come by all fronts.
func (f *frontSet) clients() (all []clientInfo, sum statelessInfo) {
	for _, one := range f.list() {
		all = append(all, one.clients()...)
		s := one.stateless()
		sum.Requests += s.Requests
		sum.InFlight += s.InFlight
		if s.LastSeen.After(sum.LastSeen) {
			sum.LastSeen = s.LastSeen
		}
	}
	return all, sum
}

// bounds tells how much is in use of what is bounded for all clients together, and
// for each front.
func (f *frontSet) bounds() []bound {
	out := f.budget.bounds()
	for _, one := range f.list() {
		out = append(out, one.bounds()...)
	}
	return out
}
