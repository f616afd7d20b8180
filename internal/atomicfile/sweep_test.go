package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestSweep: a name that Write makes is removed, any other left.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	tmp, err := createTemp(path, 0o600)
	require.NoError(t, err)
	require.NoError(t, tmp.Close())
	names := map[string]bool{
		filepath.Base(tmp.Name()): false, ".servers.json.0.tmp": false, ".servers.json.4294967295.tmp": false,
		"servers.json": true, "servers.json.1.tmp": true, ".servers.json.tmp": true, ".servers.json..tmp": true, ".servers.json.lock": true,
		".servers.json.1": true, ".servers.json.1.tmp~": true, ".servers.json.1a.tmp": true, ".servers.json.1.2.tmp": true,
		".servers.json.12345678901.tmp": true, ".servers.json.-1.tmp": true, ".other.json.1.tmp": true, ".xservers.json.1.tmp": true,
	}
	for name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	Sweep(path)
	for name, stays := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: there %v, want %v", name, err == nil, stays)
		}
	}
}

// TestSweepFollowsLinks: temporary files lie beside the target of a link.
func TestSweepFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles", "real.json"), filepath.Join(dir, "link.json")
	left := filepath.Join(dir, "dotfiles", ".real.json.1.tmp")
	require.NoError(t, os.Mkdir(filepath.Dir(target), 0o700))
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	Sweep(link)
	if _, err := os.Lstat(left); err == nil {
		t.Error("it is still there")
	}
}
