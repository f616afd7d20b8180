//go:build integration

package npmtest_test

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
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
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !strings.Contains(line, `"serverInfo"`) {
				t.Errorf("got %q, %v, want an initialize result", line, err)
			}
			_ = in.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed, so an error is what is expected
		})
	}
}
