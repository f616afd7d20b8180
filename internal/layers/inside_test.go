package layers_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestInside: symbolic links are followed within a project and its repository, and lead
// nothing out of it, there or not.
func TestInside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	repo, sub := filepath.Join(root, "repo"), filepath.Join(root, "repo", "sub")
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(sub, ".mcpctl"), filepath.Join(root, "out"), filepath.Join(root, "alone")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	for link, target := range map[string]string{
		filepath.Join(sub, "up"): "../shared.json", filepath.Join(sub, "gone"): "../new/file.json", filepath.Join(sub, "out"): "../../out/file.json",
		filepath.Join(sub, "none"): "../../missing/file.json", filepath.Join(sub, "folder"): "../../out", filepath.Join(sub, "again"): "out",
		filepath.Join(root, "alone", "up"): "../repo/shared.json", filepath.Join(root, "by"): "repo/sub",
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	for _, x := range []struct {
		dir, path string
		inside    bool
	}{
		{sub, filepath.Join(sub, ".mcpctl", "servers.json"), true},
		{sub, filepath.Join(sub, "new", "deep", "servers.json"), true},
		{sub, filepath.Join(sub, "up"), true},
		{sub, filepath.Join(sub, "gone"), true},
		{filepath.Join(root, "by"), filepath.Join(root, "by", "x.json"), true},
		{sub, filepath.Join(sub, "out"), false},
		{sub, filepath.Join(sub, "again"), false},
		{sub, filepath.Join(sub, "none"), false},
		{sub, filepath.Join(sub, "folder", "new", "file.json"), false},
		{filepath.Join(root, "alone"), filepath.Join(root, "alone", "up"), false},
	} {
		err := layers.Inside(x.dir, x.path)
		var outside *layers.OutsideError
		if (err == nil) != x.inside || err != nil && !errors.As(err, &outside) {
			t.Errorf("%s: %v", x.path, err)
		}
	}
}
