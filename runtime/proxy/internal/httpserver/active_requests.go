package httpserver

import (
	"context"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// ActiveRequests are the streams that last until their clients end them, of those who are asked
// for a credential. Each ends with the credential of the request that has opened it. The
// zero value is ready.
type ActiveRequests struct {
	mu  sync.Mutex // guards all
	all map[*visit]struct{}
}

type visit struct {
	principal *access.Principal
	end       func()
}

// Start notes a stream, which end ends; end must not wait, and is called once or more.
// The stream's own end calls over.
func (v *ActiveRequests) Start(principal *access.Principal, end func()) (over func()) {
	if principal == nil {
		return func() {}
	}
	one := &visit{principal, end}
	v.mu.Lock()
	if v.all == nil {
		v.all = map[*visit]struct{}{}
	}
	v.all[one] = struct{}{}
	v.mu.Unlock()
	stop := func() bool { return true }
	if !principal.Expires.IsZero() {
		stop = time.AfterFunc(time.Until(principal.Expires), end).Stop
	}
	return func() {
		stop()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.all, one)
	}
}

// Within returns a context that ends with the visit; over must be called.
func (v *ActiveRequests) Within(ctx context.Context, principal *access.Principal) (_ context.Context, over func()) {
	if principal == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	left := v.Start(principal, cancel)
	return ctx, func() {
		left()
		cancel()
	}
}

// Expel ends the streams of those for whom gone reports true.
func (v *ActiveRequests) Expel(gone func(*access.Principal) bool) {
	v.mu.Lock()
	var ends []func()
	for one := range v.all {
		if gone(one.principal) {
			ends = append(ends, one.end)
		}
	}
	v.mu.Unlock()
	for _, end := range ends {
		end()
	}
}
