package web

import (
	"context"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Expel is proxy.HTTPFront.Expel.
func (h *Streamable) Expel(gone func(*access.Principal) bool) { expel(h.p, &h.visits, gone) }

// Expel is proxy.SSEFront.Expel.
func (f *SSE) Expel(gone func(*access.Principal) bool) { expel(f.p, &f.visits, gone) }

func expel(p *front.Set, v *visits, gone func(*access.Principal) bool) {
	v.expel(gone)
	now := time.Now()
	p.Router.Parking.Expel(func(who *access.Principal) bool {
		return !who.Expired(now) && gone(who) // else another credential may bring the answers
	})
}

// visits are the streams that last until their clients end them, of those who are asked
// for a credential. Each ends with the credential of the request that has opened it. The
// zero value is ready.
type visits struct {
	mu  sync.Mutex // guards all
	all map[*visit]struct{}
}

type visit struct {
	who *access.Principal
	end func()
}

// begin notes a stream, which end ends; end must not wait, and is called once or more.
// The stream's own end calls over.
func (v *visits) begin(who *access.Principal, end func()) (over func()) {
	if who == nil {
		return func() {}
	}
	one := &visit{who, end}
	v.mu.Lock()
	if v.all == nil {
		v.all = map[*visit]struct{}{}
	}
	v.all[one] = struct{}{}
	v.mu.Unlock()
	stop := func() bool { return true }
	if !who.Expires.IsZero() {
		stop = time.AfterFunc(time.Until(who.Expires), end).Stop
	}
	return func() {
		stop()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.all, one)
	}
}

// within returns a context that ends with the visit; over must be called.
func (v *visits) within(ctx context.Context, who *access.Principal) (_ context.Context, over func()) {
	if who == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	left := v.begin(who, cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// expel ends the streams of those for whom gone reports true.
func (v *visits) expel(gone func(*access.Principal) bool) {
	v.mu.Lock()
	var ends []func()
	for one := range v.all {
		if gone(one.who) {
			ends = append(ends, one.end)
		}
	}
	v.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// expire ends an HTTP+SSE session once what is being answered has been, which nobody can
// add to.
func (s *sseSession) expire() {
	s.expired.Store(true)
	s.endIfExpired()
}

// endIfExpired ends the session if its credential has ended and nothing is left to answer.
func (s *sseSession) endIfExpired() {
	if s.expired.Load() && len(s.places) == 0 {
		s.end(upstream.ErrSessionEnded)
	}
}
