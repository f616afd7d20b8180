package echo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// Serve answers line by line until in ends. What is answered later (sleep) is
// waited for.
func Serve(in io.Reader, out io.Writer, o Options) error {
	s := newServer(o)
	r := bufio.NewReaderSize(in, 1<<16)
	w := &writer{w: bufio.NewWriterSize(out, 1<<16)}
	var later sync.WaitGroup
	defer later.Wait()
	for {
		line, err := r.ReadBytes('\n')
		var m message
		if len(line) > 1 && json.Unmarshal(line, &m) == nil {
			if bytes.Contains(m.Params, []byte(`"sleep"`)) {
				later.Go(func() {
					if a, ok := s.answer(m); ok {
						w.put(a, true)
					}
				})
			} else if a, ok := s.answer(m); ok {
				w.put(a, false)
			}
		}
		if r.Buffered() == 0 || err != nil {
			// Several requests that came together are answered together.
			w.flush()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writer writes lines, each whole.
type writer struct {
	mu sync.Mutex
	w  *bufio.Writer
}

func (w *writer) put(m message, flush bool) {
	b, err := json.Marshal(m)
	if err != nil {
		return // an id that is no JSON: there is nobody to answer
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.w.Write(append(b, '\n')) // a client that has gone misses nothing
	if flush {
		_ = w.w.Flush()
	}
}

func (w *writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.w.Flush()
}
