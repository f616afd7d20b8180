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

// Streams is the client's end of a connection over memory: what a child
// process's stdout and stdin would be.
type Streams struct {
	io.Reader           // what the server prints
	in        io.Closer // the server's end of Reader
	io.Writer           // the server's input
	out       io.Closer
	cancel    context.CancelFunc
	done      chan struct{}
	err       error
}

// Streams starts the server on two io.Pipes. Every write waits for its reader,
// so all of it works inside a testing/synctest bubble.
func (s *Server) Streams() *Streams {
	ctx, cancel := context.WithCancel(context.Background())
	sr, cw := io.Pipe()
	cr, sw := io.Pipe()
	st := &Streams{Reader: cr, in: cr, Writer: cw, out: cw, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(st.done)
		st.err = s.Serve(ctx, sr, sw)
	}()
	return st
}

// CloseWrite ends the server's input, as closing a child's stdin does.
func (st *Streams) CloseWrite() error { return st.out.Close() }

// Close ends the server and returns when it has.
func (st *Streams) Close() error {
	st.cancel()
	_ = st.out.Close() // a pipe's Close reports no error
	_ = st.in.Close()
	<-st.done
	return nil
}

// Wait returns what Serve returned, once it has.
func (st *Streams) Wait() error {
	<-st.done
	return st.err
}

// Connect starts the server over memory and gives a transport to it. It does
// no handshake: like a bare stdio transport it moves messages. Messages of the
// server go to the call whose progress token they carry, else to h; nil is
// [runtime.NopHandler].
func (s *Server) Connect(h runtime.Handler) runtime.Transport {
	if h == nil {
		h = runtime.NopHandler{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &conn{
		st: s.Streams(), h: h, ctx: ctx, cancel: cancel,
		calls: map[string]*inFlight{}, done: make(chan struct{}),
	}
	go c.read()
	return c
}

// conn is the client's side of a connection: deliberately simple, one
// goroutine that reads and a map of calls.
type conn struct {
	st     *Streams
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
	answer chan message // room for one
}

// Call implements [runtime.Transport].
func (c *conn) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &inFlight{req, make(chan message, 1)}
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
	if err := c.write(object("jsonrpc", "2.0", "id", id, "method", req.Method, "params", req.Params)); err != nil {
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
		_ = c.write(object("jsonrpc", "2.0", "method", "notifications/cancelled", "params", object("requestId", id)))
		return nil, ctx.Err()
	}
}

// notSent is ErrClosed of a call that never left.
type notSent struct{}

func (notSent) Error() string   { return runtime.ErrClosed.Error() }
func (notSent) Unwrap() []error { return []error{runtime.ErrClosed, runtime.ErrNotSent} }

// Notify implements [runtime.Transport].
func (c *conn) Notify(ctx context.Context, req *runtime.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.write(object("jsonrpc", "2.0", "method", req.Method, "params", req.Params)) != nil {
		return notSent{}
	}
	return nil
}

// Close implements [runtime.Transport].
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
		var m message
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

func (c *conn) deliver(m message) {
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
			frame := object("jsonrpc", "2.0", "id", m.ID, "result", res)
			if err != nil {
				frame = object("jsonrpc", "2.0", "id", m.ID, "error", errorObject(err))
			}
			_ = c.write(frame) // the reader notices a dead connection
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
