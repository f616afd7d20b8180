package upstream

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// startsPerCPU is how many servers start at once for each processor. Most of a start is
	// to wait, for files, a package registry or a network; what servers compute beside that
	// they compute one after the other anyway. The bound is on memory and on what comes to a
	// registry at once.
	startsPerCPU = 16
	// turnTime is how long a start can keep others waiting. One that takes longer
	// goes on beside the next.
	turnTime = 10 * time.Second
)

// StartLimiter hands out turns to start a server. All methods may be called concurrently.
type StartLimiter struct {
	taken chan struct{}
}

// NewStartLimiter returns turns for this machine.
func NewStartLimiter() *StartLimiter {
	return &StartLimiter{taken: make(chan struct{}, startsPerCPU*runtime.GOMAXPROCS(0))}
}

// Wait waits for a turn, which is over with done or after turnTime. A start that is
// urgent begins without one, and so does one that is not local: it costs this machine
// nothing. It waits no longer than ctx.
func (t *StartLimiter) Wait(ctx context.Context, urgent <-chan struct{}, local bool) (done func()) {
	if !local {
		return func() {}
	}
	select {
	case <-urgent: // also where a turn is free: others can have it
		return func() {}
	default:
	}
	select {
	case t.taken <- struct{}{}:
		return turn(t.taken)
	case <-urgent:
	case <-ctx.Done():
	}
	return func() {}
}

// turn ends a turn that has been taken, once, with done or after turnTime.
func turn(taken <-chan struct{}) (done func()) {
	end := sync.OnceFunc(func() { <-taken })
	timer := time.AfterFunc(turnTime, end)
	return func() {
		timer.Stop()
		end()
	}
}
