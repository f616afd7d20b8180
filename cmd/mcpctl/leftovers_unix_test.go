//go:build unix

package main_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestKilledEdit: what an edit that was killed has left (see TestKilledWriter of
// internal/atomicfile) is gone after the next one. Nothing else is.
func TestKilledEdit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	require.NoError(t, os.WriteFile(at("servers.json"), []byte(`{"mcpServers": {}}`), 0o600))
	left := at(".servers.json.2866142156.tmp")
	require.NoError(t, os.WriteFile(left, []byte("secret"), 0o600))
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
		require.NoError(t, err)
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
