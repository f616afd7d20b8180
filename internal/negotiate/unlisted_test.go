package negotiate_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestUnlistedHandshake: a server that lists the stateless era alone is tried with the
// handshake, over a connection of its own, where the client prefers it and can be asked
// something. What comes of that is remembered.
func TestUnlistedHandshake(t *testing.T) {
	t.Parallel()
	const form = `{"elicitation":{"form":{}}}`
	for name, tt := range map[string]struct {
		versions            []string
		faults              runtimetest.Faults
		legacy              bool
		capabilities        string
		first, second, want string // what is sent for one connection and the next, and the revision
	}{
		"taken":            {both, runtimetest.Faults{ModernDiscover: true}, true, form, "discover, initialize", "initialize", "2025-11-25"},
		"refused":          {july, runtimetest.Faults{}, true, form, "discover, initialize discover", "discover", "2026-07-28"},
		"ends on it":       {july, runtimetest.Faults{ExitOnInitialize: true}, true, form, "discover, initialize discover, discover", "discover", "2026-07-28"},
		"nothing to ask":   {both, runtimetest.Faults{ModernDiscover: true}, true, `{"experimental":{"x":{}}}`, "discover", "discover", "2026-07-28"},
		"a modern client":  {both, runtimetest.Faults{ModernDiscover: true}, false, form, "discover", "discover", "2026-07-28"},
		"listed is listed": {both, runtimetest.Faults{}, true, form, "discover initialize", "discover initialize", "2025-11-25"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.Full(tt.versions...)
			s.Faults = tt.faults
			var eras negotiate.MemoryCache
			for n, want := range []string{tt.first, tt.second} {
				var mu sync.Mutex
				var came strings.Builder
				c, err := negotiate.Connect(t.Context(), negotiate.Options{
					Open: func(context.Context) (runtime.Transport, error) {
						mu.Lock()
						defer mu.Unlock()
						if came.Len() > 0 {
							came.WriteString(",")
						}
						return noting{s.Connect(runtime.NopHandler{}), func(method string) {
							mu.Lock()
							defer mu.Unlock()
							came.WriteString(" " + strings.TrimPrefix(method, "server/"))
						}}, nil
					},
					Legacy: tt.legacy, Capabilities: json.RawMessage(tt.capabilities), Key: "k", Eras: &eras,
				})
				require.NoError(t, err)
				if got := strings.TrimSpace(came.String()); got != want || c.Info.Version != tt.want {
					t.Errorf("connection %d: got %q and %s, want %q and %s", n+1, got, c.Info.Version, want, tt.want)
				}
				require.NoError(t, c.Close())
			}
		})
	}
}

var (
	july = []string{"2026-07-28"}
	both = []string{"2026-07-28", "2025-11-25"}
)

// noting is a transport that tells of its calls.
type noting struct {
	runtime.Transport
	note func(method string)
}

func (n noting) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	n.note(req.Method)
	return n.Transport.Call(ctx, req)
}
