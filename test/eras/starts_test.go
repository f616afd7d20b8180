package eras_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestStarts: the only client of a stdio endpoint is asked over each start of the proxy,
// not over the first alone, whoever shares connections: a server of its era and the
// stateless one is used in its era each time.
func TestStarts(t *testing.T) {
	t.Parallel()
	for _, b := range append(backends(), unlisted()...) {
		switch b.name {
		case "stdio", "http", "modern-stdio", "modern-only", "dual", "dual-http", "unlisted", "unlisted-http":
		default:
			continue
		}
		for _, isolation := range []proxy.Isolation{proxy.IsolationAuto, proxy.IsolationShared, proxy.IsolationSession} {
			t.Run(b.name+"/"+string(isolation), func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				for n := range 3 {
					start := newStart(t, b, home, isolation)
					for _, tool := range []string{"ask_form", "ask_sample", "ask_roots"} {
						if raw, err := start.c.use(t.Context(), tool, ""); err != nil {
							t.Errorf("start %d: %s: %s, %v", n+1, tool, raw, err)
						}
					}
					if err := start.asked("elicitation/create", "sampling/createMessage", "roots/list"); err != nil {
						t.Errorf("start %d: %v", n+1, err)
					}
					for _, c := range start.proxy.Status().Backends[0].Connections {
						if modern := c.Revision == modernVersion; modern != start.modern() {
							t.Errorf("start %d: a connection speaks %s", n+1, c.Revision)
						}
					}
					start.close()
				}
			})
		}
	}
}

// newStart starts a proxy on stdio whose only client is one of the handshake era, and
// what it learns is kept in home.
func newStart(t *testing.T, b backend, home string, isolation proxy.Isolation) *pair {
	t.Helper()
	p, err := newPair(endpoints()[0], b, alone(t, home, isolation))
	require.NoError(t, err)
	p.ctx = t.Context()
	require.NoError(t, p.settle(t.Context()))
	return p
}

// alone has a proxy serve one client, share connections as isolation says, and keep
// what it learns in home.
func alone(t *testing.T, home string, isolation proxy.Isolation) func(*proxy.Options) {
	db := store.Open(filepath.Join(home, "mcpctl.db"), store.Options{})
	t.Cleanup(func() { _ = db.Close() })
	return func(o *proxy.Options) {
		o.SingleClient, o.Store = true, db
		for i := range o.Servers {
			o.Servers[i].Isolation, o.Servers[i].Digest = isolation, "d"
		}
	}
}

// sdkEnv makes this test binary a server of the Go SDK on stdin and stdout.
const sdkEnv = "MCPCTL_ERAS_SDK"

// serveSDK is a server of both eras that can ask for roots in the handshake era alone.
func serveSDK(in io.ReadCloser, out io.WriteCloser) int {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask_roots"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		roots, err := r.Session.ListRoots(ctx, nil) //nolint:staticcheck // clients of the handshake era have roots
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(len(roots.Roots))}}}, nil, nil
	})
	if err := s.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out}); err != nil {
		return 1
	}
	return 0
}

// TestStartsOfTheSDK: the same with a server that another has written.
func TestStartsOfTheSDK(t *testing.T) {
	t.Parallel()
	if wire.Policies() {
		t.Skip("it is locked nowhere")
	}
	home := t.TempDir()
	entry := config.Entry{Name: "b", Command: os.Args[0], Env: map[string]string{sdkEnv: "1"}}
	for n := range 3 {
		p, _, err := newProxy(seal.NewKeyring(), map[string]backend{"b": {}}, []config.Entry{entry}, alone(t, home, proxy.IsolationAuto))
		require.NoError(t, err)
		c := newClient(false, "one")
		start := &pair{endpoint: endpoints()[0], proxy: p, c: c}
		require.NoError(t, start.endpoint.open(start, c))
		raw, err := c.request(t.Context(), ask{method: "tools/call", members: `"name":"b__ask_roots","arguments":{}`})
		if err := wantText(raw, err, "1"); err != nil {
			t.Errorf("start %d: %v", n+1, err)
		}
		c.close()
		require.NoError(t, p.Close())
	}
}

// unlisted are servers that list the stateless era alone, take the handshake all the
// same, and ask in that era only.
func unlisted() []backend {
	return []backend{
		{name: "unlisted", legacy: true, modern: true, stream: true, flags: "-modern-discover"},
		{
			name: "unlisted-http", legacy: true, modern: true, http: true, session: true, stream: true,
			o: runtimetest.HTTPOptions{SSE: true, Sessions: true, Stream: true, Resume: true}, faults: runtimetest.Faults{ModernDiscover: true},
		},
	}
}

// TestUnlisted: a client of the handshake era that can be asked something gets the
// handshake where a server takes it, listed or not; others get what the server lists.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	for _, b := range unlisted() {
		for _, f := range endpoints() {
			if f.name == "nosession" {
				continue // nobody can be asked there
			}
			t.Run(b.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				p, err := newPair(f, b)
				require.NoError(t, err)
				defer p.close()
				p.ctx = t.Context()
				require.NoError(t, p.settle(t.Context()))
				for _, tool := range []string{"ask_form", "ask_roots", "ask_form"} {
					raw, err := p.c.use(t.Context(), tool, "")
					if (err == nil) == f.modern {
						t.Errorf("%s: got %s, %v", tool, raw, err)
					}
				}
				mute := newClient(f.modern, "mute")
				mute.capabilities = `{}`
				require.NoError(t, f.open(p, mute))
				defer mute.close()
				raw, err := mute.use(t.Context(), "echo", `{"message":"hi"}`)
				require.NoError(t, wantText(raw, err, "hi"))
			})
		}
	}
}

// TestUnlistedAtOnce: clients of the handshake era that meet a server at once which lists
// the stateless era alone share the attempt, whether it takes the handshake or not, and
// each gets its answers.
func TestUnlistedAtOnce(t *testing.T) {
	t.Parallel()
	for _, b := range append(backends(), unlisted()...) {
		if !slices.Contains([]string{"modern-stdio", "modern-only", "unlisted", "unlisted-http"}, b.name) {
			continue
		}
		for _, f := range endpoints() {
			if f.modern || !f.http || f.name == "nosession" {
				continue
			}
			t.Run(b.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				for range 3 {
					p, err := newPair(f, b)
					require.NoError(t, err)
					clients := []*client{p.c}
					for n := range 4 {
						c, err := p.join(fmt.Sprint("more ", n))
						require.NoError(t, err)
						clients = append(clients, c)
					}
					var wg sync.WaitGroup
					for _, c := range clients {
						wg.Go(func() {
							raw, err := c.use(t.Context(), "echo", `{"message":"hi"}`)
							if err := wantText(raw, err, "hi"); err != nil {
								t.Errorf("%s: %v", c.label, err)
							}
						})
					}
					wg.Wait()
					for _, c := range clients[1:] {
						c.close()
					}
					p.close()
				}
			})
		}
	}
}
