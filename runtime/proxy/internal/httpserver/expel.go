package httpserver

import (
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Expel is proxy.HTTPHandler.Expel.
func (h *Streamable) Expel(gone func(*access.Principal) bool) { expel(h.p, &h.active, gone) }

// Expel is proxy.SSEHandler.Expel.
func (f *SSE) Expel(gone func(*access.Principal) bool) { expel(f.p, &f.active, gone) }

func expel(p *endpoint.Set, v *ActiveRequests, gone func(*access.Principal) bool) {
	v.Expel(gone)
	now := time.Now()
	p.Router.Suspended.Expel(func(principal *access.Principal) bool {
		return !principal.Expired(now) && gone(principal) // else another credential may bring the answers
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
