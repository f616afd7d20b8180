package jsonrpc

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/mcpctl/mcpctl/internal/deadline"
)

// Event is one notification of a call.
type Event struct {
	Method string
	Params []byte
}

// maxEvents bounds what a waiting caller has not taken yet; the oldest is
// dropped, because a newer progress message says more.
const maxEvents = 64

// waiter makes an asynchronous call a blocking one.
type waiter struct {
	done chan struct{}
	wake chan struct{}

	result, object []byte
	err            error

	mu     sync.Mutex // guards events
	events []Event
}

func (w *waiter) Finish(a Answer) *Writer {
	w.result, w.object, w.err = bytes.Clone(a.Result), bytes.Clone(a.Error), a.Err
	w.done <- struct{}{}
	return nil
}

func (w *waiter) Event(method string, params []byte) *Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == maxEvents {
		w.events = w.events[1:]
	}
	w.events = append(w.events, Event{method, bytes.Clone(params)})
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

func (w *waiter) take() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.events
	w.events = nil
	return out
}

// Call starts a call and waits for its end. The result, or the server's error
// object, belongs to the caller. When ctx ends first the peer is told, unless
// the call is an initialize, which must not be cancelled (2025-11-25,
// Cancellation), and ctx's error is returned. events, where given, is called
// on this goroutine for each notification of the call.
func (c *Conn) Call(ctx context.Context, q *Call, events func(Event)) (result, object []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	w, _ := c.waiters.Get().(*waiter)
	if w == nil {
		w = &waiter{done: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
	}
	defer func() {
		w.result, w.object, w.err = nil, nil, nil
		select {
		case <-w.wake:
		default:
		}
		c.waiters.Put(w)
	}()
	q.ID = c.NextID()
	q.Receiver = w
	if err := c.Start(q); err != nil {
		return nil, nil, &NotSentError{err}
	}
	c.Flush()
	if q.Sent != nil {
		q.Sent()
	}
	emit := func() {
		for _, e := range w.take() {
			if events != nil {
				events(e)
			}
		}
	}
	for {
		select {
		case <-w.done:
			emit()
			return w.result, w.object, w.err
		case <-w.wake:
			emit()
		case <-ctx.Done():
			gone := false
			if q.Method == "initialize" {
				gone = c.Forget(q.ID)
			} else {
				gone = c.Abandon(q.ID, Reason(ctx))
			}
			if !gone {
				<-w.done // the answer has won the race; it is let go
			}
			w.take()
			return nil, nil, ctx.Err()
		}
	}
}

// Reason says, in the words of the peer's log, why nobody waits for an answer any
// more: the reason of notifications/cancelled.
func Reason(ctx context.Context) string {
	switch cause := deadline.Cause(ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return "timed out"
	case cause == nil, errors.Is(cause, context.Canceled):
		return "the caller cancelled"
	default:
		return cause.Error()
	}
}

// NotSentError is a call of which nothing was sent.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return e.Err.Error() }
func (e *NotSentError) Unwrap() error { return e.Err }

// IsNotSent reports whether nothing of a call was sent.
func IsNotSent(err error) bool {
	var e *NotSentError
	return errors.As(err, &e)
}
