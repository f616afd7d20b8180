//go:build integration

package peers_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/wire"
)

// client is a client of the official SDK and what it was told.
type client struct {
	*mcp.ClientSession
	notifications
}

// legacyRevision makes an SDK client shake hands.
const legacyRevision = "2025-11-25"

// connect connects an SDK client of the handshake era; it is closed with the
// test.
func connect(t *testing.T, tr mcp.Transport) *client {
	t.Helper()
	return connectAs(t, tr, legacyRevision)
}

// connectAs connects an SDK client that prefers a revision, "" for the newest.
func connectAs(t *testing.T, tr mcp.Transport, revision string) *client {
	t.Helper()
	c := &client{notifications: notifications{tools: make(chan struct{}, 100)}}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.tools <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.progress = append(c.progress, r.Params.Progress)
		},
	})
	// Over HTTP+SSE the context of connecting is that of the stream.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	patience := time.AfterFunc(wire.Limit, cancel)
	defer patience.Stop()
	session, err := sdk.Connect(ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	c.ClientSession = session
	t.Cleanup(func() { _ = session.Close() })
	return c
}

func (c *client) steps() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.progress)
}

// stdioGateway connects to mcpctl serve as its child.
func stdioGateway(t *testing.T, revision, config string, args ...string) *client {
	t.Helper()
	cmd, _ := command(context.WithoutCancel(t.Context()), t, config, append([]string{"serve"}, args...)...)
	return connectAs(t, &mcp.CommandTransport{Command: cmd, TerminateDuration: 10 * time.Second}, revision)
}

// endpoints are the ways to reach mcpctl serve, by name: each transport in each era
// that has it.
func ways() map[string]func(t *testing.T, config string, args ...string) *client {
	all := map[string]func(*testing.T, string, ...string) *client{
		"sse": func(t *testing.T, config string, args ...string) *client {
			return connect(t, &mcp.SSEClientTransport{Endpoint: strings.TrimSuffix(serveHTTP(t, config, args...).URL, "/mcp") + "/sse"})
		},
	}
	for era, revision := range map[string]string{"": legacyRevision, " 2026-07-28": ""} {
		all["stdio"+era] = func(t *testing.T, config string, args ...string) *client {
			return stdioGateway(t, revision, config, args...)
		}
		all["http"+era] = func(t *testing.T, config string, args ...string) *client {
			return connectAs(t, &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, config, args...).URL}, revision)
		}
	}
	return all
}

// modern reports whether the client's requests are self-contained.
func (c *client) modern() bool { return c.InitializeResult().ProtocolVersion >= "2026" }

// call calls a tool and returns the text of its result.
func (c *client) call(ctx context.Context, name string, args any) (string, *mcp.CallToolResult, error) {
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", nil, err
	}
	for _, b := range res.Content {
		if t, is := b.(*mcp.TextContent); is {
			return t.Text, res, nil
		}
	}
	return "", res, nil
}

// toldOfChange waits a moment for a tools/list_changed.
func (c *client) toldOfChange(ctx context.Context) bool {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-c.tools:
		return true
	case <-t.C:
	case <-ctx.Done():
		return true // the caller's next call reports it
	}
	return false
}
