// Package starts bounds how many servers are started on this machine at once: many
// side by side make each slow, up to its connect timeout. It knows no server.
package starts

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// perCPU is how many servers are started at once for each processor: part of a
	// start is to wait, for files or a package registry.
	perCPU = 2
	// turnTime is how long a start can keep others waiting. One that takes longer
	// goes on beside the next.
	turnTime = 10 * time.Second
)

// Turns hands out turns to start a server. All methods may be called concurrently.
type Turns struct{ free chan struct{} }

// NewTurns returns turns for this machine.
func NewTurns() *Turns { return newTurns(perCPU * runtime.GOMAXPROCS(0)) }

func newTurns(n int) *Turns { return &Turns{free: make(chan struct{}, n)} }

// Wait waits for a turn, which is over with done or after turnTime. A start that is
// urgent begins without one, and so does one that is not local: it costs this machine
// nothing. It waits no longer than ctx.
func (t *Turns) Wait(ctx context.Context, urgent <-chan struct{}, local bool) (done func()) {
	if !local {
		return func() {}
	}
	select {
	case <-urgent: // also where a turn is free: others can have it
		return func() {}
	default:
	}
	select {
	case t.free <- struct{}{}:
	case <-urgent:
		return func() {}
	case <-ctx.Done():
		return func() {}
	}
	end := sync.OnceFunc(func() { <-t.free })
	timer := time.AfterFunc(turnTime, end)
	return func() {
		timer.Stop()
		end()
	}
}
