package eras_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/mcpctl/mcpctl/test/wire"
)

// stdioTransport is a stdio endpoint over memory.
type stdioTransport struct {
	c    *client
	mu   sync.Mutex // one message at a time
	in   io.WriteCloser
	end  context.CancelFunc // what SIGTERM does to mcpctl serve
	done chan struct{}
}

// stdioServer is a proxy, or one that is recorded.
type stdioServer interface {
	ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error
}

func dialStdio(p stdioServer, c *client) *stdioTransport {
	toProxy, in := io.Pipe()
	out, fromProxy := io.Pipe()
	w := &stdioTransport{c: c, in: in, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	w.end = cancel
	served := make(chan error, 1)
	go func() {
		served <- p.ServeStdio(ctx, toProxy, fromProxy)
		_ = toProxy.Close()
		_ = fromProxy.Close()
	}()
	go func() {
		defer close(w.done)
		_ = wire.Lines(out, func(line []byte) { c.receive(bytes.Clone(line), nil) }) // it ends with the endpoint
		if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
			c.stray("ServeStdio: %v", err)
		}
	}()
	return w
}

func (w *stdioTransport) send(_ context.Context, frame []byte, _ *call, _ http.Header) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.in.Write(append(bytes.Clone(frame), '\n'))
	return err
}

// close does what hosts do: the end of input, and then a signal. The first
// alone lets calls in flight be answered.
func (w *stdioTransport) close() {
	_ = w.in.Close()
	w.end()
	<-w.done
}
