package runtimetest

import (
	"context"
	"io"

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

// Connect starts the server over memory and returns a transport to it. It does
// no handshake: like a bare stdio transport it moves messages. Messages of the
// server go to the call whose progress token they carry, else to h; nil is
// [runtime.NopHandler].
func (s *Server) Connect(h runtime.Handler) runtime.Transport {
	return newMemory(s.Streams(), h)
}
