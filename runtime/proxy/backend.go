package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/bridge"
	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
)

// backend is one server behind the proxy: idle, connecting or ready. It is
// connected when it is first needed, once, however many wait for it.
type backend struct {
	p    *Proxy
	name string

	ready atomic.Pointer[connection] // nil unless connected
	// known is set once what the server offers is in the snapshot.
	known atomic.Bool
	// catalog is what it last offered, nil before the first time; guarded by
	// Proxy.mu.
	catalog *catalog

	mu       sync.Mutex // guards what follows; held for memory work only
	attempt  *attempt   // the connecting under way, nil for none
	failures int        // in a row
	retryAt  time.Time  // lists leave it alone until then
	lastErr  error
	closed   bool
	lists    relisting
}

// connection is a connected server.
type connection struct {
	client *runtime.Client
	// version is the revision that is spoken over it.
	version string
	// pipe takes calls without waiting; nil where the transport cannot.
	pipe *jsonrpc.Conn
	// gone is why the connection has ended, nil while it lives; guarded by
	// backend.mu.
	gone error
}

// attempt is one connecting that any number of callers wait for.
type attempt struct {
	done chan struct{}
	conn *connection
	err  error
}

var errProxyClosed = errors.New("the proxy is shutting down")

// acquire gives the connection, connecting first where there is none. The
// connecting has the proxy's lifetime: a caller whose ctx ends leaves it to the
// others.
func (b *backend) acquire(ctx context.Context) (*connection, error) {
	if c := b.ready.Load(); c != nil {
		return c, nil
	}
	a, err := b.join()
	if err != nil {
		return nil, err
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join gives the connecting under way, or starts one.
func (b *backend) join() (*attempt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errProxyClosed
	}
	if b.attempt == nil {
		b.attempt = &attempt{done: make(chan struct{})}
		if c := b.ready.Load(); c != nil { // connected since the caller looked
			b.attempt.conn = c
			close(b.attempt.done)
			a := b.attempt
			b.attempt = nil
			return a, nil
		}
		a := b.attempt
		b.lists.begin()
		b.p.work.Go(func() { b.connect(a) })
	}
	return b.attempt, nil
}

// connect connects, learns what the server offers, and lets the waiting in.
// What is offered is in the snapshot before the connection can be had.
func (b *backend) connect(a *attempt) {
	start := time.Now()
	c, cat, err := b.open()
	if err == nil {
		b.p.publish(b, cat)
	}
	b.mu.Lock()
	switch {
	case err != nil:
	case b.closed:
		err = errProxyClosed
	case c.gone != nil: // before anybody could have used it
		err = c.gone
	}
	b.lists.end()
	if err != nil {
		b.failures++
		b.lastErr = err
		b.retryAt = time.Now().Add(backoff(b.failures))
	} else {
		b.failures, b.lastErr, b.retryAt = 0, nil, time.Time{}
		b.ready.Store(c)
		b.relist()
	}
	a.conn, a.err = c, err
	b.attempt = nil
	b.mu.Unlock()
	if err != nil {
		if c != nil {
			_ = c.client.Close() // it came too late to be used
		}
		b.p.log.Warn("backend cannot be used", "server", b.name, "elapsed", time.Since(start), "err", err)
		b.p.publish(b, nil)
	} else {
		b.p.log.Info("backend connected", "server", b.name, "elapsed", time.Since(start))
	}
	close(a.done)
}

// backoff is how long lists leave a failing backend alone: 5 s, doubled with
// each failure, at most 5 min. Calls to it always try.
func backoff(failures int) time.Duration {
	return min(5*time.Second<<min(failures-1, 10), 5*time.Minute)
}

func (b *backend) open() (*connection, *catalog, error) {
	c := &connection{}
	client, err := b.p.o.Dial(b.p.lifetime, Key{Server: b.name}, &backendHandler{b: b, conn: c})
	if err != nil {
		return nil, nil, err
	}
	c.client, c.version = client, client.Info().Version
	if t, ok := client.Transport().(interface{ Pipeline() *jsonrpc.Conn }); ok {
		c.pipe = t.Pipeline()
	}
	cat, err := b.p.load(b, client)
	if err != nil {
		return c, nil, fmt.Errorf("list what %s offers: %w", b.name, err)
	}
	return c, cat, nil
}

// due tells whether a list should try to connect: the backend has offered
// nothing yet and has not failed a moment ago.
func (b *backend) due(now time.Time) bool {
	if b.known.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.closed && (b.attempt != nil || !now.Before(b.retryAt))
}

// failure tells why the backend cannot be used now, nil where nothing is known
// against it.
func (b *backend) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lastErr
}

// lost drops a connection that is gone. What the backend offered stays listed;
// the next call connects again.
func (b *backend) lost(c *connection, err error) {
	if err == nil {
		err = runtime.ErrClosed
	}
	if b.drop(c, err) {
		b.p.log.Warn("backend connection lost", "server", b.name, "err", err)
	}
}

func (b *backend) drop(c *connection, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.gone = err
	// One that is not ready yet is found gone by connect, one that is left at
	// the end is closed by close.
	if b.closed || !b.ready.CompareAndSwap(c, nil) {
		return false
	}
	b.p.work.Go(func() { _ = c.client.Close() }) // it still has a process to reap
	return true
}

// modern tells whether requests over the connection are self-contained.
func (c *connection) modern() bool { return bridge.IsModern(c.version) }

// call sends a request of a client and waits for the result. Where the connection turns out
// to be gone before a byte was sent, it is made anew, once: nothing has
// happened there yet.
func (b *backend) call(ctx context.Context, _ *caller, req *runtime.Request) (served, error) {
	for again := true; ; again = false {
		c, err := b.acquire(ctx)
		if err != nil {
			return served{}, err
		}
		result, err := c.client.Transport().Call(ctx, req)
		if !again || !errors.Is(err, runtime.ErrNotSent) || !errors.Is(err, runtime.ErrClosed) {
			return served{result, c}, err
		}
		b.lost(c, err)
	}
}

// close ends the connection, and a connecting that is under way, for good.
func (b *backend) close() {
	b.mu.Lock()
	b.closed = true
	a := b.attempt
	b.lists.stop()
	b.mu.Unlock()
	if a != nil {
		<-a.done
	}
	if c := b.ready.Swap(nil); c != nil {
		_ = c.client.Close()
	}
}

// backendHandler receives what a backend sends outside calls.
type backendHandler struct {
	runtime.NopHandler
	b    *backend
	conn *connection
}

// Notification implements [runtime.Handler].
func (h *backendHandler) Notification(_ context.Context, _ *runtime.Request, method string, _ json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
		"notifications/subscriptions/acknowledged": // what changed before it was not told
		h.b.changed()
	}
}

// Closed implements [runtime.Handler].
func (h *backendHandler) Closed(err error) { h.b.lost(h.conn, err) }
