package upstream

import (
	"fmt"
	"time"
)

// Attempt is one connecting, as those see it who wait for it. Its methods are called
// under the lock of its owner.
type Attempt struct {
	begun  time.Time
	turn   time.Time // when it began to connect, zero before
	urgent chan struct{}
}

// NewAttempt returns one that waits for its turn.
func NewAttempt(now time.Time) Attempt { return Attempt{begun: now, urgent: make(chan struct{})} }

// Promote has it begin without a turn, where that is urgent: a call waits for it.
func (a *Attempt) Promote(urgent bool) {
	select {
	case <-a.urgent:
	default:
		if urgent {
			close(a.urgent)
		}
	}
}

// Urgent returns what is closed once it is urgent.
func (a *Attempt) Urgent() <-chan struct{} { return a.urgent }

// Connects notes that it connects from now on.
func (a *Attempt) Connects(now time.Time) { a.turn = now }

// WaitEnd returns until when lists wait for it: for a time from when it connects, and
// no longer than grace in all, unless that is zero.
func (a *Attempt) WaitEnd(now time.Time, wait, grace time.Duration) time.Time {
	from := a.turn
	if from.IsZero() {
		from = now
	}
	end := from.Add(wait)
	if early := a.begun.Add(grace); grace > 0 && early.Before(end) {
		return early
	}
	return end
}

// ComingError is why a list goes without a server that is still being connected.
type ComingError struct{ After time.Duration }

func (e *ComingError) Error() string { return fmt.Sprintf("it is not connected yet after %s", e.After) }

// ExitKind is its kind in the report of a list.
func (*ComingError) ExitKind() string { return "connecting" }
