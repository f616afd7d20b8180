package front

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"context"
	"sync"
)

// InProgress are one client's requests that have a goroutine, by the client's
// own raw ids. The zero value is ready.
type InProgress struct {
	mu sync.Mutex // guards m
	m  map[string]*context.CancelCauseFunc
}

// Begin notes a request and gives its context; done must be called when it has
// ended.
func (r *InProgress) Begin(ctx context.Context, id []byte) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := string(id)
	r.mu.Lock()
	if r.m == nil {
		r.m = map[string]*context.CancelCauseFunc{}
	}
	r.m[key] = &cancel
	r.mu.Unlock()
	return ctx, func() {
		r.mu.Lock()
		// The id of a request that was cancelled is free at once: another may
		// have it by now.
		if r.m[key] == &cancel {
			delete(r.m, key)
		}
		r.mu.Unlock()
		cancel(nil)
	}
}

// cancel ends a request; false where there is none with this id.
func (r *InProgress) cancel(id []byte) bool {
	r.mu.Lock()
	cancel := r.m[string(id)]
	r.mu.Unlock()
	if cancel != nil {
		(*cancel)(upstream.ErrCancelled)
	}
	return cancel != nil
}
