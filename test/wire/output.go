package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wait"
)

// Limit bounds every wait that is not about time itself, where no test is at hand: what
// one waits for, it waits for with package wait.
const Limit = 5 * time.Minute

// Output keeps what a process writes and reports each piece. NewOutput makes one;
// all methods may be called concurrently.
type Output struct {
	copies  []io.Writer
	mu      sync.Mutex // guards the rest
	buf     []byte
	changed chan struct{} // closed with each write
}

// NewOutput returns an empty output, which copies what is written.
func NewOutput(copies ...io.Writer) *Output {
	return &Output{copies: copies, changed: make(chan struct{})}
}

// Write implements io.Writer. What is older than the last 4 MiB goes.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	o.buf = append(o.buf, p...)
	if over := len(o.buf) - 4<<20; over > 0 {
		o.buf = append(o.buf[:0], o.buf[over:]...)
	}
	for _, w := range o.copies {
		_, _ = w.Write(p) // it is kept here
	}
	return len(p), nil
}

// String returns all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}

// Tail returns the last 4000 bytes.
func (o *Output) Tail() string {
	s := o.String()
	return s[max(0, len(s)-4000):]
}

// find waits until find returns something in the text so far, and returns that.
// Nothing comes after ended.
func (o *Output) find(within time.Duration, ended <-chan struct{}, find func(text string) string) (string, error) {
	end := time.NewTimer(within)
	defer end.Stop()
	for last := false; ; {
		o.mu.Lock()
		text, changed := string(o.buf), o.changed
		o.mu.Unlock()
		if found := find(text); found != "" {
			return found, nil
		}
		if last {
			return "", errors.New("it has ended")
		}
		select {
		case <-changed:
		case <-ended:
			last = true
		case <-end.C:
			return "", fmt.Errorf("not within %v", within)
		}
	}
}

// Await waits until find returns something in the text so far, and returns that.
// It ends the test where nothing comes before its deadline.
func (o *Output) Await(t testing.TB, what string, find func(text string) string) string {
	t.Helper()
	found, err := o.find(time.Until(wait.Deadline(t)), nil, find)
	if err != nil {
		t.Fatalf("no %s: %v\n%s", what, err, o)
	}
	return found
}

// Line waits for a line that begins with prefix and returns the rest of it.
func (o *Output) Line(t testing.TB, prefix string) string {
	t.Helper()
	return o.Await(t, "line "+prefix+"…", lineWith(prefix))
}

// lineWith finds a line that begins with prefix, and returns the rest of it.
func lineWith(prefix string) func(text string) string {
	return func(text string) string {
		for l := range strings.Lines(text) {
			if rest, found := strings.CutPrefix(l, prefix); found && strings.HasSuffix(rest, "\n") {
				return strings.TrimSpace(rest)
			}
		}
		return ""
	}
}
