//go:build unix

package transport_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
)

// ends counts how often a connection has ended, and keeps why.
type ends struct {
	runtime.NopHandler
	n   atomic.Int64
	why atomic.Value
}

func (e *ends) Closed(err error) {
	e.why.Store(err)
	e.n.Add(1)
}

// TestStdioHalfClosed: a server that has closed its input or its output and lives
// on is gone: calls end and say so, later ones are not sent, and Close ends the
// process.
func TestStdioHalfClosed(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"input":  {`exec 0<&-; echo ready >&2; exec sleep 1000`, "sh closed its input: ready"},
		"output": {`exec 1>&-; echo ready >&2; exec sleep 1000`, "sh closed its output: ready"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &ends{}
			s, err := transport.StartStdio(transport.StdioOptions{Command: "sh", Args: []string{"-c", c.script}, Handler: h, Grace: 10 * time.Millisecond})
			require.NoError(t, err)
			defer func() { _ = s.Close() }()
			<-s.Alive()
			for first := true; ; first = false { // calls that were under way, then one that comes too late
				_, err := s.Call(t.Context(), &runtime.Request{Method: "ping"})
				if !errors.Is(err, runtime.ErrClosed) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("first %t: got %v", first, err)
				}
				if errors.Is(err, runtime.ErrNotSent) && h.n.Load() > 0 {
					break
				}
			}
			if why, _ := h.why.Load().(error); h.n.Load() != 1 || why == nil || !strings.Contains(why.Error(), c.want) {
				t.Errorf("told %d times, %v", h.n.Load(), h.why.Load())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if h.n.Load() != 1 {
				t.Errorf("told %d times", h.n.Load())
			}
		})
	}
}
