//go:build unix

package guardian_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/guardian"
)

// TestCloseBesideBegin: Close waits for a guardian that is just being started, and none is
// started after it.
func TestCloseBesideBegin(t *testing.T) {
	t.Parallel()
	for range 50 {
		var log bytes.Buffer
		g := guardian.New(guardian.Options{Path: filepath.Join(t.TempDir(), "none"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		g.Close()
		g.Start()
		if log.Len() > 0 {
			t.Fatalf("started after Close: %s", &log)
		}
		g = guardian.New(guardian.Options{Path: "/bin/cat", Args: []string{"cat"}})
		var other sync.WaitGroup
		other.Go(g.Start)
		g.Close()
		other.Wait()
		g.Close()
		if pid := g.PID(); pid != 0 {
			t.Fatalf("process %d goes on", pid)
		}
	}
}

// TestNoneInGuardian: a program that was started as a guardian, and does not know it, starts no
// other.
func TestNoneInGuardian(t *testing.T) {
	t.Setenv(guardian.Variable, "1")
	if g := guardian.New(guardian.Options{Path: "/bin/cat", Args: []string{"cat"}}); g != nil {
		t.Error("there is a guard")
	}
}
