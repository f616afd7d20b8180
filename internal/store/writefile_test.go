package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "file")
	for _, text := range []string{"first, the longer", "second"} {
		require.NoError(t, store.WriteFile(path, []byte(text), 0o644))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	// A folder in the way stays.
	if err := store.WriteFile(dir, []byte("x"), 0o644); err == nil {
		t.Error("a folder was replaced")
	}
}
