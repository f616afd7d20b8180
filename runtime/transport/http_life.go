package transport

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// lifetime owns the goroutines of a transport.
type lifetime struct {
	// ctx ends with Close, afterClose when Close has said goodbye to the server.
	ctx, afterClose       context.Context //nolint:containedctx // owned, ended by Close
	endCtx, endAfterClose context.CancelFunc

	mu      sync.Mutex // guards closed and every Add of the groups
	closed  bool
	calls   map[*exchange]struct{} // under way
	work    sync.WaitGroup
	notices sync.WaitGroup // those of work that tell the server something on the way out
	done    chan struct{}
}

func newLifetime() *lifetime {
	l := &lifetime{done: make(chan struct{})}
	l.ctx, l.endCtx = context.WithCancel(context.Background())
	l.afterClose, l.endAfterClose = context.WithCancel(context.Background())
	return l
}

// spawn runs f in a goroutine that Close waits for; false when closed.
func (l *lifetime) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.work.Go(f)
	return true
}

// track ends a call with ctx; forget takes it back.
func (l *lifetime) track(x *exchange) {
	l.mu.Lock()
	over := l.ctx.Err() != nil
	if l.calls == nil {
		l.calls = map[*exchange]struct{}{}
	}
	l.calls[x] = struct{}{}
	l.mu.Unlock()
	if over {
		x.End(runtime.ErrClosed)
	}
}

func (l *lifetime) forget(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, x)
}

// call returns the call that has an id, nil for none.
func (l *lifetime) call(id []byte) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	for x := range l.calls {
		if sameID(id, x.id) {
			return x
		}
	}
	return nil
}

// cancel ends ctx, and the calls that are tracked.
func (l *lifetime) cancel() {
	l.endCtx()
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.calls))
	l.mu.Unlock()
	for _, x := range all { // which closes connections
		x.End(runtime.ErrClosed)
	}
}

// notice runs f for a message that Close lets go out first, unless that has begun;
// limit bounds it.
func (l *lifetime) notice(limit time.Duration, f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.notices.Add(1)
	l.work.Go(func() {
		defer l.notices.Done()
		ctx, cancel := context.WithTimeout(l.afterClose, limit)
		defer cancel()
		f(ctx)
	})
}

// shut begins the end: nothing new starts. What runs goes on until cancel or
// end. False when it has begun already; then it waits for that end.
func (l *lifetime) shut() bool {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if !first {
		<-l.done
	}
	return first
}

// waitNotices waits for notices that are on their way, no longer than ctx.
func (l *lifetime) waitNotices(ctx context.Context) {
	gone := make(chan struct{})
	l.work.Go(func() {
		l.notices.Wait()
		close(gone)
	})
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// end stops what still runs and waits for it.
func (l *lifetime) end() {
	l.cancel()
	l.endAfterClose()
	l.work.Wait()
	close(l.done)
}

func (l *lifetime) over() bool { return l.ctx.Err() != nil }
