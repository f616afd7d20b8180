// Package wait is how a test waits for what it cannot make happen at once: a process that
// starts, a file that appears, a message of another goroutine.
//
// Each function waits until the test's own deadline, so a busy machine does not fail a test.
// A test asserts what happened and in which order; how long it took is asserted within a
// testing/synctest bubble, or measured by a benchmark.
package wait

import (
	"context"
	"testing"
	"time"
)

const (
	// margin is what a test keeps of the time that go test gives it, to report what it has
	// waited for and to end what it started.
	margin = 10 * time.Second
	// unbounded is how long a test waits that go test gives no time, as with -timeout 0, and
	// one in a synctest bubble, whose clock is another.
	unbounded = 5 * time.Minute
	// step is the time between two looks at something that has no event.
	step = 5 * time.Millisecond
)

// Deadline returns when tb should stop waiting: ten seconds before go test ends it, or in
// five minutes if go test does not.
func Deadline(tb testing.TB) time.Time {
	if end, ok := given(tb); ok {
		return end.Add(-margin)
	}
	return time.Now().Add(unbounded)
}

// given returns when go test ends tb.
func given(tb testing.TB) (end time.Time, ok bool) {
	if t, has := tb.(interface{ Deadline() (time.Time, bool) }); has {
		defer func() { _ = recover() }() // a test in a bubble has none, and panics
		return t.Deadline()
	}
	return end, false
}

// Context returns a context that ends at the deadline of tb, or with tb.
func Context(tb testing.TB) context.Context {
	ctx, cancel := context.WithDeadline(tb.Context(), Deadline(tb))
	tb.Cleanup(cancel)
	return ctx
}

// Late returns a channel that has the time at the deadline of tb: for a select whose other
// cases are what a test waits for.
func Late(tb testing.TB) <-chan time.Time { return time.After(time.Until(Deadline(tb))) }

// Until waits until holds returns true. At the deadline it ends the test, and prints what as
// fmt.Print does, with the values of that moment.
func Until(tb testing.TB, what any, holds func() bool) {
	tb.Helper()
	for end := Deadline(tb); !holds(); time.Sleep(step) {
		if time.Now().After(end) {
			tb.Fatalf("waited in vain for: %v", what)
		}
	}
}

// For waits for a value from c, or its close, and returns what it received. At the deadline
// it ends the test.
func For[T any](tb testing.TB, what any, c <-chan T) T {
	tb.Helper()
	timer := time.NewTimer(time.Until(Deadline(tb)))
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		tb.Fatalf("waited in vain for: %v", what)
		panic("unreachable")
	}
}
