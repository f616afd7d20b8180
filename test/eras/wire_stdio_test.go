package eras_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// stdioWire is a stdio front over memory.
type stdioWire struct {
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

func dialStdio(p stdioServer, c *client) *stdioWire {
	toProxy, in := io.Pipe()
	out, fromProxy := io.Pipe()
	w := &stdioWire{c: c, in: in, done: make(chan struct{})}
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
		r := bufio.NewReaderSize(out, 1<<16)
		for {
			line, err := r.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				c.receive(line, nil)
			}
			if err != nil {
				break
			}
		}
		if err := <-served; err != nil && !errors.Is(err, context.Canceled) {
			c.stray("ServeStdio: %v", err)
		}
	}()
	return w
}

func (w *stdioWire) send(_ context.Context, frame []byte, _ *call, _ map[string]string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.in.Write(append(bytes.Clone(frame), '\n'))
	return err
}

// close does what hosts do: the end of input, and then a signal. The first
// alone lets calls in flight be answered.
func (w *stdioWire) close() {
	_ = w.in.Close()
	w.end()
	<-w.done
}
