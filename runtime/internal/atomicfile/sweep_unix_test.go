//go:build unix

package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// writerEnv has the test binary write servers.json in its folder, and be killed
// at that.
const writerEnv = "ATOMICFILE_TEST_WRITE"

// TestKilledWriter: what a writer that was killed has left is what Sweep
// removes.
func TestKilledWriter(t *testing.T) {
	if os.Getenv(writerEnv) != "" {
		// Long enough to be seen while it is written.
		if err := Write("servers.json", make([]byte, 256<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestKilledWriter$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), writerEnv+"=yes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	files := func() []os.DirEntry {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
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
