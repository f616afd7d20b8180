package transport

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// stderrTail is how much of a server's standard error is kept to explain its
// end.
const stderrTail = 8 << 10

// tail keeps the end of a stream and logs its lines.
type tail struct {
	logger *slog.Logger
	size   int
	heard  func() // told of the first bytes, and perhaps of later ones
	done   chan struct{}

	mu  sync.Mutex // guards buf
	buf []byte
}

func newTail(size int, logger *slog.Logger, heard func()) *tail {
	return &tail{size: size, logger: logger, heard: heard, done: make(chan struct{})}
}

// drain reads until the end, so that a server that floods its standard error
// never waits for us.
func (t *tail) drain(r io.Reader) {
	defer close(t.done)
	chunk := make([]byte, 32<<10)
	for {
		n, err := r.Read(chunk)
		if n > 0 {
			t.heard()
		}
		t.keep(chunk[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) keep(b []byte) {
	if t.logger.Enabled(context.Background(), slog.LevelDebug) {
		t.log(b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - t.size; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) log(b []byte) {
	for line := range bytes.Lines(b) {
		t.logger.Debug("server stderr", "text", string(bytes.TrimRight(line[:min(len(line), 2000)], "\r\n")))
	}
}

// settle waits, bounded, until everything written has been read.
func (t *tail) settle(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.buf), "\uFFFD"))
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
