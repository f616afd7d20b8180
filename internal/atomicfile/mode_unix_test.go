//go:build unix

package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestWriteUmask: a new file is open to whom the user lets in, and no further; an old one is
// as it was. The umask is that of the process, so the test does not run beside others.
func TestWriteUmask(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	require.NoError(t, os.Chmod(old, 0o664))
	for umask, want := range map[int]map[fs.FileMode]fs.FileMode{
		0o022: {0o644: 0o644, 0o600: 0o600},
		0o002: {0o664: 0o664, 0o600: 0o600},
		0o077: {0o644: 0o600, 0o600: 0o600},
	} {
		defer syscall.Umask(syscall.Umask(umask))
		for perm, want := range want {
			path := filepath.Join(dir, "new")
			require.NoError(t, atomicfile.Write(path, []byte("x"), perm))
			info, err := os.Stat(path)
			require.NoError(t, err)
			if got := info.Mode().Perm(); got != want {
				t.Errorf("umask %03o: mode %03o of a new file of %03o, want %03o", umask, got, perm, want)
			}
			require.NoError(t, os.Remove(path))
		}
		require.NoError(t, atomicfile.Write(old, []byte("x"), 0o600))
		if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o664 {
			t.Errorf("umask %03o: an old file of 664 is %v, %v", umask, info.Mode(), err)
		}
	}
}
