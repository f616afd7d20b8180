package upstream

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// perCPU is how many servers are started at once for each processor: part of a
	// start is to wait, for files or a package registry. Where that is all that servers do
	// there are more, up to mostPerCPU: what they wait for may come to all at once.
	perCPU, mostPerCPU = 2, 16
	// lookFirst and lookMost are how often the next in line looks whether it is so. What
	// was started just before is at work by then, if it has work to do.
	lookFirst, lookMost = time.Millisecond, 10 * time.Millisecond
	// turnTime is how long a start can keep others waiting. One that takes longer
	// goes on beside the next.
	turnTime = 10 * time.Second
)

// StartLimiter hands out turns to start a server. All methods may be called concurrently.
type StartLimiter struct {
	free  chan struct{} // turns that are taken
	extra chan struct{} // and those beyond, while servers only wait
	next  chan struct{} // held by the one that looks whether they do, with what follows

	looked time.Time
	left   int // how many more can start, as of looked

	// Spare returns how many servers more can start now; nil: that is not known. It is set
	// before the first Wait.
	Spare func() int
}

// NewStartLimiter returns turns for this machine.
func NewStartLimiter() *StartLimiter {
	n := runtime.GOMAXPROCS(0)
	return &StartLimiter{
		free: make(chan struct{}, perCPU*n), extra: make(chan struct{}, (mostPerCPU-perCPU)*n), next: make(chan struct{}, 1),
		Spare: spare(n),
	}
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
	case t.free <- struct{}{}:
		return turn(t.free)
	case t.next <- struct{}{}:
		defer func() { <-t.next }()
	case <-urgent:
		return func() {}
	case <-ctx.Done():
		return func() {}
	}
	for step := lookFirst; ; step = min(2*step, lookMost) {
		if t.takeExtra() {
			return turn(t.extra)
		}
		select {
		case t.free <- struct{}{}:
			return turn(t.free)
		case <-urgent:
			return func() {}
		case <-ctx.Done():
			return func() {}
		case <-time.After(step):
			if t.Spare != nil {
				t.looked, t.left = time.Now(), t.Spare()
			}
		}
	}
}

// takeExtra takes a turn beyond the others, where the last look has found that there is
// one. The caller holds next.
func (t *StartLimiter) takeExtra() bool {
	if t.left <= 0 || time.Since(t.looked) >= lookMost {
		return false
	}
	t.left--
	select {
	case t.extra <- struct{}{}:
		return true
	default:
		return false
	}
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
