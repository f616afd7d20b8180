//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServeListGrace: the first list goes without a server that does not answer and
// those that take the processor for their start, and is complete but for the first
// once the client was told.
func TestServeListGrace(t *testing.T) {
	t.Parallel()
	servers := wire.Servers{"hung": {"command": "hostile-mcp", "args": []string{"-fault", "hang-initialize"}, "connectTimeout": "1h", "shutdownTimeout": "100ms"}}
	const busy = 6
	for i := range busy {
		servers[fmt.Sprint("busy", i)] = map[string]any{"command": "hostile-mcp", "args": []string{"-burn", "300ms"}}
	}
	d := wire.Serve(t, wire.Setup{
		Program: "mcpctl", Servers: servers, Stdio: true, Env: []string{"MCPCTL_LIST_GRACE=500ms"},
		Each: func(mark string, e map[string]any) {
			e["env"] = map[string]string{wire.MarkName: mark, hostile.Env: "1"}
		},
	})
	out := bufio.NewScanner(d.Out)
	out.Buffer(nil, 1<<20)
	list := func() (tools int, partial string) {
		_, err := d.In.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"))
		require.NoError(t, err)
		for out.Scan() {
			var m struct {
				ID     int
				Result struct {
					Tools []struct{ Name string }
					Meta  map[string]json.RawMessage `json:"_meta"`
				}
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), &m))
			if m.ID == 1 {
				return len(m.Result.Tools), string(m.Result.Meta["dev.mcpctl/partial"])
			}
		}
		t.Fatalf("serve has ended:\n%s", d.Stderr)
		return 0, ""
	}
	tools, partial := list()
	if !strings.Contains(partial, `{"server":"hung","kind":"connecting"}`) || tools == 2*busy {
		t.Errorf("the first list: %d tools, %s", tools, partial)
	}
	const only = `[{"server":"hung","kind":"connecting"}]`
	for tools < 2*busy && out.Scan() { // each change that the client is told of has a list
		if strings.Contains(out.Text(), "tools/list_changed") {
			tools, partial = list()
		}
	}
	if partial != only {
		t.Errorf("at the end: %d tools, %s", tools, partial)
	}
}
