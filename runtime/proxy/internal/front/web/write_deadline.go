package web

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"

	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// writeTime is how long a write to a client may take, longer by its size at
	// bodyRate: the connection of one that does not read any more ends then.
	writeTime = time.Minute
)

// writeDeadline bounds the writes of one response: a client that does not read holds the
// goroutine that writes. Not every server can; then they last.
type writeDeadline struct {
	f    *http.ResponseController
	stop func() bool // of the watch for the context's end
	last chan struct{}

	mu    sync.Mutex // guards what follows, and is held while a bound is set
	over  bool       // the context has ended
	until time.Time
}

// newPace begins to bound writes, to lastWrite once ctx has ended. Done must be
// called, for the connection may serve other requests.
func newPace(ctx context.Context, w http.ResponseWriter) *writeDeadline {
	p := &writeDeadline{f: http.NewResponseController(w), last: make(chan struct{})}
	p.stop = context.AfterFunc(ctx, func() {
		defer close(p.last)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.set(time.Now().Add(limits.LastWrite))
	})
	return p
}

// extend gives a write of some size its time. For small ones that follow one
// another closely it does nothing: there is time enough.
func (p *writeDeadline) extend(size int) {
	now := time.Now()
	until := now.Add(writeTime + time.Duration(size/limits.BodyRate)*time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over && until.Sub(p.until) > writeTime/4 {
		p.set(until)
	}
}

// set sets the bound. The caller holds the lock.
func (p *writeDeadline) set(until time.Time) {
	p.until = until
	_ = p.f.SetWriteDeadline(until) // see pace
}

// done takes the bound back.
func (p *writeDeadline) done() {
	if !p.stop() {
		<-p.last
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(time.Time{})
}
