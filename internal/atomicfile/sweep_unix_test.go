//go:build unix

package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// writerEnv has the test binary write servers.json in its folder, and be killed
// at that.
const writerEnv = "ATOMICFILE_TEST_WRITE"

// TestKilledWriter: what a writer that was killed has left is what Sweep
// removes.
func TestKilledWriter(t *testing.T) {
	if os.Getenv(writerEnv) != "" {
		// Long enough to be seen while it is written.
		require.NoError(t, Write("servers.json", make([]byte, 256<<20), 0o600))
		return
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestKilledWriter$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), writerEnv+"=yes")
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	files := func() []os.DirEntry {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		return entries
	}
	for len(files()) == 0 {
		select {
		case <-ended:
			t.Fatal("it has ended and written nothing")
		case <-time.After(time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	left := files()
	if len(left) != 1 || !isTemp(left[0].Name(), path) {
		t.Fatalf("it has left %v", left)
	}
	Sweep(path)
	if left := files(); len(left) > 0 {
		t.Errorf("%v is still there", left)
	}
}
