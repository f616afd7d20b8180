package endpoint

import (
	"context"
	"sync"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Sender is a client of the handshake era.
type Sender struct {
	Client     *upstream.Client
	InProgress InProgress                // its requests that have a goroutine
	Owns       func(router.ReplyTo) bool // reports which of the others are its
	// Before returns once the server has been sent what the client sent before. Nil:
	// nothing keeps that order.
	Before func()
}

// Take takes an Answer or a Notification of a client: what has changed at the
// client, or what it no longer wants. All other notifications are ignored, unless the
// proxy stands for one server, which gets them. So is everything from a client without a
// session, whose sender is nil.
func (f *Set) Take(from *Sender, kind Kind, text []byte, m *rawjson.Message) {
	switch {
	case from == nil:
		return
	case kind == Answer:
		from.Client.Resolve(m.ID.Of(text), m.Result.Of(text), m.Error.Of(text))
		return
	}
	switch string(m.Method.Of(text)) {
	case `"` + revision.NotificationRootsListChanged + `"`:
		f.Router.RootsChanged(from.Client)
	case `"` + revision.NotificationCancelled + `"`:
		id := m.RequestID.Of(text)
		if len(id) > 0 && !from.InProgress.cancel(id) {
			f.Router.CancelFastCall(from.Owns, id)
		}
	case `"` + revision.NotificationInitialized + `"`: // servers get the proxy's own
	default:
		if method, ok := rawjson.String(text, m.Method); ok {
			version, capabilities := from.Client.TermsOf()
			if from.Before != nil {
				from.Before()
			}
			f.Router.Notify(&upstream.Caller{Version: version, Capabilities: capabilities, Client: from.Client}, method, m.Params.Of(text))
		}
	}
}

// InProgress is one client's requests that have a goroutine, by the client's
// own raw ids. The zero value is ready.
type InProgress struct {
	mu sync.Mutex // guards m
	m  map[string]*deadline.Scope
}

// Start adds a request and returns its context; done must be called at its end.
func (r *InProgress) Start(ctx context.Context, id []byte) (_ context.Context, done func()) {
	s := deadline.NewScope(ctx)
	key := string(id)
	r.mu.Lock()
	if r.m == nil {
		r.m = map[string]*deadline.Scope{}
	}
	r.m[key] = s
	r.mu.Unlock()
	return s, func() {
		r.mu.Lock()
		if r.m[key] == s { // else it was cancelled, and another may have the id
			delete(r.m, key)
		}
		r.mu.Unlock()
		s.End(nil)
	}
}

// cancel ends a request; false where there is none with this id. The id is free
// at once: the next request with it may be a fast call, which is not in here.
func (r *InProgress) cancel(id []byte) bool {
	r.mu.Lock()
	s := r.m[string(id)]
	delete(r.m, string(id))
	r.mu.Unlock()
	if s != nil {
		s.End(upstream.ErrCancelled)
	}
	return s != nil
}
