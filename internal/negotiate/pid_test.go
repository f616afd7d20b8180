package negotiate_test

import (
	"context"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// local is a transport of a process of ours.
type local struct{ runtime.Transport }

func (local) PID() int { return 4321 }

// TestPID: whoever holds a connection can tell its process, in either era.
func TestPID(t *testing.T) {
	t.Parallel()
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for _, want := range []int{4321, 0} {
			s := runtimetest.New()
			s.Versions = []string{version}
			c, err := negotiate.Connect(t.Context(), negotiate.Options{Open: func(context.Context) (runtime.Transport, error) {
				if want == 0 {
					return s.Connect(nil), nil
				}
				return local{s.Connect(nil)}, nil
			}})
			require.NoError(t, err)
			p, ok := c.Transport.(interface{ PID() int })
			if !ok || p.PID() != want || c.Info.Version != version {
				t.Errorf("%s: want process %d", version, want)
			}
			_ = c.Close()
		}
	}
}
