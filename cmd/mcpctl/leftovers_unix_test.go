//go:build unix

package main_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestKilledEdit: what an edit that was killed halfway has left, secrets
// included, is gone after the next one. Nothing else is.
func TestKilledEdit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	// Long enough to be seen while it is written.
	text := `{"mcpServers": {"a": {"command": "x", "env": {"TOKEN": "` + strings.Repeat("secret", 500_000) + `"}}}}`
	if err := os.WriteFile(at("servers.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	left := ""
	for try := 0; left == "" && try < 20; try++ {
		left = killedEdit(t, home)
	}
	if left == "" { // on a busy machine the edit may always have been faster
		t.Log("no edit was killed in time: the file is made up")
		left = at(".servers.json.12.tmp")
		if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	others := []string{
		".other.json.12.tmp", ".servers.json.12.tmp.bak", ".servers.json.1x.tmp", ".servers.json..tmp", ".servers.json.12345678901.tmp",
		".servers.json.1.2.tmp", "servers.json.12.tmp", "secret", ".servers.json.7.tmp", ".servers.json.8.tmp", ".servers.json.9.tmp",
	}
	for i, name := range others {
		var err error
		switch len(others) - i {
		case 3:
			err = os.Symlink(at("secret"), at(name))
		case 2:
			err = os.Mkdir(at(name), 0o700)
		case 1:
			err = syscall.Mkfifo(at(name), 0o600)
		default:
			err = os.WriteFile(at(name), []byte("x"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, code := inHome(t, home, "add c -- x"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", filepath.Base(left), err)
	}
	for _, name := range slices.Sorted(slices.Values(others)) {
		if _, err := os.Lstat(at(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// killedEdit kills an edit of servers.json as soon as it writes, and gives the
// file that it has left, "" for none.
func killedEdit(t *testing.T, home string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mcpctl", "add", "b", "--replace", "--", "x")
	cmd.Env = []string{"MCPCTL_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), noRaceSleep}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	for {
		left, err := filepath.Glob(filepath.Join(home, ".servers.json.*.tmp"))
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			_ = cmd.Process.Kill()
			<-ended
			if _, err := os.Lstat(left[0]); err != nil {
				return "" // it was too fast
			}
			return left[0]
		}
		select {
		case <-ended:
			return ""
		default:
		}
	}
}
