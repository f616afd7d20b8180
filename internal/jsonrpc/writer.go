package jsonrpc

import (
	"errors"
	"io"
	"sync"
)

// ErrFull is an output whose reader has fallen too far behind: the frame was
// not taken.
var ErrFull = errors.New("output buffer is full: the other side does not read")

// Writer is a combining writer. Producers append whole frames between Begin
// and End; whoever flushes and finds nobody writing swaps the buffer and
// writes it without a lock while others fill the spare one. A flush never
// waits: what one attempt does not take is written by a goroutine of the
// writer's own.
type Writer struct {
	w      io.Writer
	try    func([]byte) (int, error) // one attempt that cannot block; nil: none
	failed chan struct{}             // closed once err is set

	mu      sync.Mutex // guards what follows; held for memory work only
	space   *sync.Cond // signalled when a write has made room or failed
	buf     []byte
	spare   []byte
	writing bool
	err     error
	drains  sync.WaitGroup
}

// fullAt is how much may be buffered beyond what is being written before a
// producer has to hold back: what a Conn sends is refused (ErrFull), a reader
// waits (Writer.Wait), also the reader of a peer whose answers go to this
// output. An answer that has been read is always taken, because someone waits
// for it.
const fullAt = 16 << 20

// NewWriter writes to w. Where w is a pipe in non-blocking mode the goroutine
// that flushes writes, else one of the writer's own.
func NewWriter(w io.Writer) *Writer {
	o := &Writer{w: w, try: tryWriter(w), failed: make(chan struct{})}
	o.space = sync.NewCond(&o.mu)
	return o
}

// Begin locks the writer and returns the buffer to append one frame to; End must
// follow, with the longer buffer or the same. With an error nothing is locked.
func (w *Writer) Begin() ([]byte, error) {
	w.mu.Lock()
	if w.err != nil {
		defer w.mu.Unlock()
		return nil, w.err
	}
	return w.buf, nil
}

// End takes the buffer back.
func (w *Writer) End(buf []byte) {
	w.buf = buf
	w.mu.Unlock()
}

// Append adds whole frames.
func (w *Writer) Append(frames []byte) error {
	buf, err := w.Begin()
	if err != nil {
		return err
	}
	w.End(append(buf, frames...))
	return nil
}

// offeredAt is how much may be buffered before frames that may be left out are:
// what matters would have to wait behind them.
const offeredAt = 1 << 20

// Offer is Append for frames that may be left out: they are refused (ErrFull)
// where the other side has fallen behind.
func (w *Writer) Offer(frames []byte) error {
	buf, err := w.Begin()
	if err != nil {
		return err
	}
	if len(buf) > offeredAt {
		w.End(buf)
		return ErrFull
	}
	w.End(append(buf, frames...))
	return nil
}

// Flush sends what is buffered, or leaves it to whoever is sending now. It
// does not block.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writing || len(w.buf) == 0 || w.err != nil {
		return
	}
	w.writing = true
	if w.try == nil {
		w.drains.Go(func() { w.drain(nil, 0) })
		return
	}
	for len(w.buf) > 0 && w.err == nil {
		out := w.swap()
		w.mu.Unlock()
		n, err := w.try(out)
		w.mu.Lock()
		if err == nil && n < len(out) && w.err == nil { // else Close may be waiting already
			w.drains.Go(func() { w.drain(out, n) })
			return
		}
		w.written(out, err)
	}
	w.idle()
}

// drain is the writer's own goroutine: it finishes out, of which n bytes are
// sent, and everything that came since.
func (w *Writer) drain(out []byte, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if n < len(out) {
			w.mu.Unlock()
			_, err := w.w.Write(out[n:])
			w.mu.Lock()
			w.written(out, err)
		}
		if len(w.buf) == 0 || w.err != nil {
			w.idle()
			return
		}
		out, n = w.swap(), 0
	}
}

func (w *Writer) idle() {
	w.writing = false
	w.space.Broadcast()
}

func (w *Writer) swap() []byte {
	out := w.buf
	w.buf, w.spare = w.spare[:0], nil
	return out
}

func (w *Writer) written(out []byte, err error) {
	if cap(out) <= keepBuffer {
		w.spare = out[:0]
	}
	if err != nil {
		w.fail(err)
	}
	w.space.Broadcast()
}

// fail ends all output; the caller holds the lock.
func (w *Writer) fail(err error) {
	w.buf = nil
	if w.err == nil {
		w.err = err
		close(w.failed)
	}
	w.space.Broadcast()
}

// Wait returns when the buffer is half empty again, or the output has failed. A
// reader whose work fills this output calls it before it reads on, so that a
// peer that stops reading stops being read from.
func (w *Writer) Wait() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && len(w.buf) > fullAt/2 {
		w.space.Wait()
	}
	return w.err
}

// Err returns why output failed, nil while it works.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Failed is closed once output has failed or was closed.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Close refuses further frames and, where closing the underlying writer ends a
// blocked write, waits for the writer's goroutine. Close that writer first to
// abandon what is unsent, or Drain to send it.
func (w *Writer) Close() {
	w.Abandon()
	w.drains.Wait()
}

// Abandon refuses further frames, drops what is unsent and lets everybody go
// who waits here. It does not wait for a write under way.
func (w *Writer) Abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(io.ErrClosedPipe)
}

// Drain flushes and waits until everything is written or output has failed.
func (w *Writer) Drain() error {
	w.Flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && (w.writing || len(w.buf) > 0) {
		w.space.Wait()
	}
	return w.err
}
