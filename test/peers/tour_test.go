//go:build integration

package peers_test

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// tourist is a client of another SDK: "v1" and "v2" are those of TypeScript, "python"
// that of Python. The era is "legacy" or "modern", the transport "stdio", "http" or
// "sse".
type tourist struct{ sdk, era, transport string }

func (c tourist) String() string { return c.sdk + " " + c.era + " " + c.transport }

// visit is what a tourist does and finds.
type visit struct {
	command []string // to start for stdio
	url     string   // of Streamable HTTP; that of HTTP+SSE is beside it
	config  string   // of mcpctl where it is started
	bare    bool     // one server under its own names
	search  bool     // tools are found, and called through call_tool
	steps   []string // all those of servers that are made for it where nil
	calls   map[string][]any
	want    map[string]map[string]any // by server
}

// servers returns the names of the servers that are visited.
func (v visit) servers() []string {
	return slices.Sorted(maps.Keys(v.want))
}

// pages runs the client and compares what it finds.
func (c tourist) pages(t *testing.T, v visit) {
	t.Helper()
	how := map[string]any{"sdk": c.sdk, "era": c.era, "transport": c.transport, "backends": v.servers(), "bare": v.bare, "search": v.search, "url": v.url}
	switch c.transport {
	case "stdio":
		how["command"] = v.command
	case "sse":
		how["url"] = strings.TrimSuffix(v.url, "/mcp") + "/sse"
	}
	if v.steps != nil {
		how["steps"] = v.steps
	}
	if v.calls != nil {
		how["calls"] = v.calls
	}
	raw, err := json.Marshal(how)
	require.NoError(t, err)
	ctx := wait.Context(t)
	var words []string
	if c.sdk == "python" {
		words = pythonPeer(t, "client.py", string(raw))
	} else {
		words = npmtest.Peer(t, "client.mjs", string(raw))
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = wire.Environment(v.config, t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("client: %v\n%s%s", err, out, stderr.String())
	}
	for _, bad := range []string{"DATA RACE", "panic:"} {
		if strings.Contains(stderr.String(), bad) {
			t.Errorf("stderr:\n%s", stderr.String())
		}
	}
	var got map[string]map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range v.want {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// peer is a server of another SDK, as typescript and python return them.
func peer(t *testing.T, dir, sdk, name, transport string) entry {
	t.Helper()
	if sdk == "python" {
		return python(t, dir, name, transport)
	}
	return typescript(t, dir, sdk, name, transport, "")
}

// finds returns what a visitor finds at a server of another SDK behind serve.
func finds(sdk, name string) map[string]any {
	found := map[string]any{
		"lists": []any{10.0, 1.0, 1.0}, "echo": "grüße\n\u2028", "structured": map[string]any{"n": 42.0},
		"fail": []any{true, "it did not work"}, "unknown": -32602.0, "progress": true, "log": true,
		"ask": "accept Ada", "sample": "m roses are red", "updated": true, "read": "this is " + name + "://note",
		"prompt": "Greet Ada.", "complete": []any{"Ada"}, "cancel": []any{"given up", 1.0},
	}
	if sdk == "python" {
		found["lists"], found["fail"] = []any{11.0, 1.0, 1.0}, []any{true, "Error executing tool fail: it did not work"}
		found["changed"] = []any{true, true} // that it has a tool more is told, and listed
	}
	return found
}

// findsBare returns what a visitor finds at a server that it has for itself: what that
// says of a tool that is not there reaches the client as it is.
func findsBare(sdk, name string) map[string]any {
	found := finds(sdk, name)
	switch sdk {
	case "v1":
		found["unknown"] = []any{true, "MCP error -32602: Tool missing not found"}
	case "python":
		found["unknown"] = []any{true, "Unknown tool: missing"}
	}
	return found
}
