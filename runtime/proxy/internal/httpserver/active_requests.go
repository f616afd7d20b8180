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
	who *access.Principal
	end func()
}

// Start notes a stream, which end ends; end must not wait, and is called once or more.
// The stream's own end calls over.
func (v *ActiveRequests) Start(who *access.Principal, end func()) (over func()) {
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

// Within returns a context that ends with the visit; over must be called.
func (v *ActiveRequests) Within(ctx context.Context, who *access.Principal) (_ context.Context, over func()) {
	if who == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	left := v.Start(who, cancel)
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
		if gone(one.who) {
			ends = append(ends, one.end)
		}
	}
	v.mu.Unlock()
	for _, end := range ends {
		end()
	}
}
