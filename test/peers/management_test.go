//go:build integration

package peers_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestManagement has the SDK's client of each era, with a person behind it, add and remove
// a server: at mcpctl mcp, and at mcpctl serve with that behind it.
func TestManagement(t *testing.T) {
	t.Parallel()
	for name, revision := range map[string]string{"handshake": legacyRevision, "modern": ""} {
		for _, through := range []string{"mcp", "serve"} {
			t.Run(name+"-"+through, func(t *testing.T) {
				t.Parallel()
				config := configure(t)
				prefix := ""
				if through == "serve" {
					require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"manage":{"command":`+wire.Quote(binary)+`,"args":["--config",`+wire.Quote(config)+`,"mcp"]}}}`), 0o600))
					prefix = "manage__"
				}
				m := newManaged(t, config, revision, through)
				agrees(t, m, config, prefix)
			})
		}
	}
}

// managed is a client and the person behind it, who answers as she is told.
type managed struct {
	*mcp.ClientSession
	action atomic.Value // of the answer
	asked  chan string
}

func newManaged(t *testing.T, config, revision, through string) *managed {
	t.Helper()
	m := &managed{asked: make(chan string, 10)}
	m.action.Store("decline")
	sdk := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			m.asked <- r.Params.Message
			return &mcp.ElicitResult{Action: m.action.Load().(string), Content: map[string]any{"approve": true}}, nil
		},
	})
	ctx := context.WithoutCancel(t.Context())
	cmd, _ := command(ctx, t, config, through)
	session, err := sdk.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 10 * time.Second}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	m.ClientSession = session
	return m
}

func agrees(t *testing.T, m *managed, config, prefix string) {
	ctx := wait.Context(t)
	call := func(tool, arguments string) *mcp.CallToolResult {
		t.Helper()
		res, err := m.CallTool(ctx, &mcp.CallToolParams{Name: prefix + tool, Arguments: json.RawMessage(arguments)})
		require.NoError(t, err)
		return res
	}
	tools, err := m.ListTools(ctx, nil)
	require.NoError(t, err)
	for _, tool := range tools.Tools {
		reads := !slices.Contains([]string{prefix + "add_server", prefix + "remove_server"}, tool.Name)
		if tool.Annotations == nil || tool.Annotations.ReadOnlyHint != reads || tool.OutputSchema == nil {
			t.Errorf("%s has the annotations %+v", tool.Name, tool.Annotations)
		}
	}
	const notes = `{"alias":"notes","command":"npx","args":["-y","notes"]}`
	if res := call("add_server", notes); !res.IsError {
		t.Errorf("declined: got %+v", res)
	}
	if message := <-m.asked; !strings.Contains(message, "Runs: `npx -y notes`") {
		t.Errorf("asked %q", message)
	}
	m.action.Store("accept")
	const other = `{"alias":"other","url":"https://example.com/mcp"}`
	if res := call("add_server", other); res.IsError || res.StructuredContent == nil {
		t.Errorf("accepted: got %+v", res.Content[0])
	}
	if raw, _ := os.ReadFile(config); strings.Contains(string(raw), "notes") || !strings.Contains(string(raw), `"url": "https://example.com/mcp"`) {
		t.Errorf("servers.json is %s", raw)
	}
	if res := call("remove_server", `{"server":"other"}`); res.IsError {
		t.Errorf("removed: got %+v", res.Content[0])
	}
	if raw, _ := os.ReadFile(config); strings.Contains(string(raw), "example.com") {
		t.Errorf("servers.json is %s", raw)
	}
	if n := len(m.asked); n != 2 {
		t.Errorf("the person was asked %d times for two answers", n)
	}
	if prefix == "" {
		return
	}
	// The running serve has what was added.
	if res := call("add_server", `{"alias":"shop","command":`+wire.Quote(binary)+`,"args":["demo-server"]}`); res.IsError {
		t.Errorf("the shop: got %+v", res.Content[0])
	}
	for {
		_, err := m.CallTool(ctx, &mcp.CallToolParams{Name: "shop__echo", Arguments: map[string]any{"message": "hi"}})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // until it has read the file
	}
}
