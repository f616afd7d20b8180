package runtimetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/mcpctl/mcpctl/runtime"
)

// newMemory returns a transport over the streams of a server, which end with it. Nil
// for h is [runtime.NopHandler].
func newMemory(st io.ReadWriteCloser, h runtime.Handler) runtime.Transport {
	if h == nil {
		h = runtime.NopHandler{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &conn{st: st, h: h, ctx: ctx, cancel: cancel, calls: map[string]*inFlight{}, done: make(chan struct{})}
	go c.read()
	return c
}

// conn is the client's side of a connection: deliberately simple, one
// goroutine that reads and a map of calls.
type conn struct {
	st     io.ReadWriteCloser
	h      runtime.Handler
	ctx    context.Context //nolint:containedctx // lifetime of the connection, ended by Close
	cancel context.CancelFunc
	done   chan struct{} // closed when read has ended
	wg     sync.WaitGroup

	wmu sync.Mutex // one message at a time on the wire

	mu     sync.Mutex // guards the rest
	next   int
	calls  map[string]*inFlight // by raw id
	closed bool
}

type inFlight struct {
	req    *runtime.Request
	answer chan wireMessage // room for one
}

func (c *conn) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &inFlight{req, make(chan wireMessage, 1)}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, notSent{}
	}
	id := req.ID
	if id == nil {
		c.next++
		id = json.RawMessage(strconv.Itoa(c.next))
	}
	c.calls[string(id)] = f
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, string(id))
		c.mu.Unlock()
	}()
	if err := c.write(wireRequest(id, req.Method, req.Params)); err != nil {
		return nil, runtime.ErrClosed
	}
	select {
	case m, ok := <-f.answer:
		if !ok {
			return nil, runtime.ErrClosed
		}
		if m.Error != nil {
			return nil, runtime.ParseError(m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		// A failure to tell means that the connection is gone as well.
		_ = c.write(wireRequest(nil, "notifications/cancelled", wireObject("requestId", id)))
		return nil, ctx.Err()
	}
}

// notSent is ErrClosed of a call that never left.
type notSent struct{}

func (notSent) Error() string   { return runtime.ErrClosed.Error() }
func (notSent) Unwrap() []error { return []error{runtime.ErrClosed, runtime.ErrNotSent} }

func (c *conn) Notify(ctx context.Context, req *runtime.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.write(wireRequest(nil, req.Method, req.Params)) != nil {
		return notSent{}
	}
	return nil
}

func (c *conn) Close() error {
	c.cancel()
	err := c.st.Close()
	<-c.done
	c.wg.Wait()
	return err
}

func (c *conn) write(frame []byte) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	_, err := c.st.Write(append(frame, '\n'))
	return err
}

// read hands out what the server sends until it ends. Lines that are no JSON
// are passed over.
func (c *conn) read() {
	defer close(c.done)
	br := bufio.NewReader(c.st)
	for {
		line, err := br.ReadBytes('\n')
		var m wireMessage
		if line = bytes.TrimSpace(line); len(line) > 0 && json.Unmarshal(line, &m) == nil {
			c.deliver(m)
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	c.closed = true
	for id, f := range c.calls {
		delete(c.calls, id)
		close(f.answer)
	}
	c.mu.Unlock()
	c.h.Closed(runtime.ErrClosed)
}

func (c *conn) deliver(m wireMessage) {
	switch {
	case m.Method == "":
		c.mu.Lock()
		f := c.calls[string(m.ID)]
		delete(c.calls, string(m.ID))
		c.mu.Unlock()
		if f != nil {
			f.answer <- m
		}
	case m.ID == nil:
		req, h := c.owner(m.Params)
		h.Notification(c.ctx, req, m.Method, m.Params)
	default:
		c.wg.Go(func() {
			res, err := c.h.Request(c.ctx, nil, m.Method, m.Params)
			_ = c.write(wireAnswer(m.ID, res, err)) // the reader notices a dead connection
		})
	}
}

// owner finds the call that a notification names: by its progress token, or by
// the id of a listen.
func (c *conn) owner(params json.RawMessage) (*runtime.Request, runtime.Handler) {
	var p struct {
		Token     json.RawMessage `json:"progressToken"`
		Cancelled json.RawMessage `json:"requestId"`
		Meta      struct {
			Listen json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil, c.h
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, f := range c.calls {
		if f.req.Events == nil {
			continue
		}
		if p.Token != nil && bytes.Equal(f.req.Token, p.Token) || f.req.ID != nil && (id == string(p.Meta.Listen) || id == string(p.Cancelled)) {
			return f.req, f.req.Events
		}
	}
	return nil, c.h
}
