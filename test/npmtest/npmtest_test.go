//go:build integration

package npmtest_test

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestServersStart checks that what the lock file installs runs here.
func TestServersStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, args := range map[string][]string{"everything": {"stdio"}, "filesystem": {dir}, "memory": nil, "sequential-thinking": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := npmtest.Server(t, name, args...)
			cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
			cmd.Env = append(cmd.Environ(), "MEMORY_FILE_PATH="+dir+"/memory.json")
			p, err := wire.Start(cmd)
			require.NoError(t, err)
			_, err = io.WriteString(p.In, wire.Request("1", "initialize", wire.Hello)+"\n")
			require.NoError(t, err)
			line, err := bufio.NewReader(p.Out).ReadString('\n')
			if err != nil || !strings.Contains(line, `"serverInfo"`) {
				t.Errorf("got %q, %v, want an initialize result", line, err)
			}
			p.Stop(0)
		})
	}
}
