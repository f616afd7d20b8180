package atomicfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/test/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	if len(entries) != len(want) {
		t.Fatalf("%s holds %v, want %v", dir, entries, want)
	}
	for i, e := range entries {
		if e.Name() != want[i] {
			t.Errorf("%s holds %s, want %s", dir, e.Name(), want[i])
		}
	}
}

func TestWriteNewAndOld(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "deep")
	path := filepath.Join(dir, "f.json")
	require.NoError(t, atomicfile.Write(path, []byte("one"), 0o600))
	require.NoError(t, atomicfile.Write(path, []byte("two"), 0o600))
	if got := read(t, path); got != "two" {
		t.Errorf("got %q, want two", got)
	}
	onlyFiles(t, dir, "f.json")
}

func TestWriteMode(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := filepath.Join(t.TempDir(), "f")
	mode := func() fs.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.NoError(t, atomicfile.Write(path, nil, 0o600))
	if got := mode(); got != 0o600 {
		t.Errorf("new file: mode %o, want 600", got)
	}
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, atomicfile.Write(path, []byte("x"), 0o600))
	if got := mode(); got != 0o644 {
		t.Errorf("old file: mode %o, want 644 as before", got)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "dotfiles", "real.json")
	require.NoError(t, os.Mkdir(filepath.Dir(target), 0o700))
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(filepath.Join("dotfiles", "real.json"), link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	// The target does not exist at first.
	for _, text := range []string{"one", "two"} {
		require.NoError(t, atomicfile.Write(link, []byte(text), 0o600))
		if got := read(t, target); got != text {
			t.Errorf("target holds %q, want %q", got, text)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v, %v", info, err)
		}
	}
	onlyFiles(t, filepath.Dir(target), "real.json")
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := atomicfile.Write(dir, []byte("x"), 0o600); err == nil {
		t.Error("a directory was written over")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if err := atomicfile.Write(filepath.Join(dir, "file", "below"), []byte("x"), 0o600); err == nil {
		t.Error("a file below a file was written")
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if os.Symlink(a, b) == nil && os.Symlink(b, a) == nil {
		if err := atomicfile.Write(a, []byte("x"), 0o600); err == nil {
			t.Error("a circle of links was written")
		}
		onlyFiles(t, dir, "a", "b", "file")
	}
}

// TestLock: a lock that is free is taken, however little time there is, and one that is held
// is not.
func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dir", "lock")
	for range 2 {
		unlock, err := atomicfile.Lock(t.Context(), path, 0)
		require.NoError(t, err)
		if _, err := atomicfile.Lock(t.Context(), path, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("held: got %v", err)
		}
		unlock()
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := atomicfile.Lock(ended, path, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: got %v", err)
	}
}
