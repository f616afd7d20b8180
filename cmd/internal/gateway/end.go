package gateway

import (
	"context"
	"errors"
	"time"
)

const (
	// EndBound is how long a gateway may take from the signal to its end, see run.
	EndBound = 10 * time.Second
	// ReapTimeout is how long a command may take to end after its child processes
	// are killed.
	ReapTimeout = 500 * time.Millisecond
	// drainBound is the part of it for requests in flight. The rest is enough for
	// servers that use their default time: 500 ms after their input was closed, and
	// 5 s after SIGTERM.
	drainBound = 4 * time.Second
	// HurryAfter is when remaining servers are killed, whatever their
	// shutdownTimeout.
	HurryAfter = EndBound - ReapTimeout
)

// run serves at an endpoint until that ends, like a client on standard input, or a
// signal comes. Then, in this order: new requests are refused (see readyz), those in
// flight are waited for, streams and sessions are ended, and finally the servers,
// concurrently. All of that is bounded by EndBound, which the program sees to.
func (g *gateway) run(ctx context.Context, serve func(context.Context) error) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- serve(serving) }()
	var err error
	select {
	case err = <-served:
		// Without a signal the program does not bound the end.
		deadline := time.AfterFunc(HurryAfter, g.h.HurryUp)
		defer deadline.Stop()
	case <-ctx.Done():
		g.h.Log.Info("ending: waiting for requests in flight")
		g.drain()
		stop()
		err = <-served
	}
	return errors.Join(err, g.proxy.Close(), g.hooks.close())
}

// drain waits for requests in flight.
func (g *gateway) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), drainBound)
	defer cancel()
	drained := make(chan struct{})
	go func() {
		g.proxy.Drain(ctx)
		close(drained)
	}()
	select {
	case <-drained:
	case <-g.h.Hurry:
		cancel()
		<-drained
	}
}
