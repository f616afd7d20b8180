package web

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/front"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Expel is proxy.HTTPFront.Expel.
func (h *Streamable) Expel(gone func(*access.Principal) bool) { expel(h.p, &h.visits, gone) }

// Expel is proxy.SSEFront.Expel.
func (f *SSE) Expel(gone func(*access.Principal) bool) { expel(f.p, &f.visits, gone) }

func expel(p *front.Set, v *Visits, gone func(*access.Principal) bool) {
	v.Expel(gone)
	now := time.Now()
	p.Router.Parking.Expel(func(who *access.Principal) bool {
		return !who.Expired(now) && gone(who) // else another credential may bring the answers
	})
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
