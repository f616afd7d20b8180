package web

import (
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Expel is proxy.HTTPFront.Expel.
func (h *Streamable) Expel(gone func(*access.Principal) bool) {
	for _, s := range h.Sessions.list() {
		if s.who != nil && gone(s.who) {
			s.endStreams()
		}
	}
	h.listens.end(gone)
	h.p.Router.Parking.Expel(gone)
}

// endStreams ends the streams that belong to no request.
func (s *session) endStreams() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, to := range s.listening {
		to.finish(nil)
	}
}

// Expel is proxy.SSEFront.Expel.
func (f *SSE) Expel(gone func(*access.Principal) bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, s := range f.m {
		if s.who != nil && gone(s.who) {
			s.end(upstream.ErrSessionEnded)
		}
	}
}

// listens are the requests of the stateless era that last until their clients end them,
// of those who are asked for a credential. The zero value is ready.
type listens struct {
	mu  sync.Mutex // guards all
	all map[*context.CancelFunc]*access.Principal
}

// add returns a context that end ends. forget must be called.
func (l *listens) add(ctx context.Context, who *access.Principal) (_ context.Context, forget func()) {
	if who == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*context.CancelFunc]*access.Principal{}
	}
	l.all[&cancel] = who
	return ctx, func() {
		cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &cancel)
	}
}

func (l *listens) end(gone func(*access.Principal) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for cancel, who := range l.all {
		if gone(who) {
			(*cancel)()
		}
	}
}
