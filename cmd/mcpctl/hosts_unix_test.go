//go:build unix

package main_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestExportKilled: an export that is killed at a random moment leaves the host's file as it was
// or as it is to be, and what was written can be taken back.
func TestExportKilled(t *testing.T) {
	t.Parallel()
	const moments = 100
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	before := append([]byte("{\n  // mine\n  \"mcpServers\": {\"own\": {\"command\": \"own\"}}\n}\n//"), bytes.Repeat([]byte("x"), 1<<20)...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "servers.json"), []byte(`{"mcpServers": {"a": {"command": "a"}}}`), 0o600))
	require.NoError(t, os.WriteFile(file, before, 0o600))
	start := time.Now()
	if _, stderr, code := inHome(t, home, "export cursor"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	whole := time.Since(start)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	_, _, _ = inHome(t, home, "export cursor --undo")
	written := 0
	for i := range moments {
		require.NoError(t, os.WriteFile(file, before, 0o600))
		cmd := exec.CommandContext(t.Context(), "mcpctl", "export", "cursor")
		cmd.Dir = home
		cmd.Env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), noRaceSleep}
		require.NoError(t, cmd.Start())
		// Most of a command is its start: the moments are random in its second half.
		time.Sleep(whole/2 + rand.N(whole/2))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		switch {
		case bytes.Equal(now, after):
			written++
		case !bytes.Equal(now, before):
			t.Fatalf("moment %d: the file is neither the old nor the new one, %d bytes", i, len(now))
		}
	}
	t.Logf("%d of %d were written", written, moments)
	if _, stderr, code := inHome(t, home, "export cursor"); code != 0 {
		t.Errorf("after that: exit %d: %s", code, stderr)
	}
	if now, _ := os.ReadFile(file); !bytes.Equal(now, after) {
		t.Error("the last export has not written the file")
	}
	left, err := filepath.Glob(filepath.Join(home, ".cursor", "*"))
	require.NoError(t, err)
	hidden, err := filepath.Glob(filepath.Join(home, ".cursor", ".*"))
	require.NoError(t, err)
	if n := len(left) + len(hidden); n > 1 {
		t.Errorf("files are left behind: %q %q", left, hidden)
	}
}
