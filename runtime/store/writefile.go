package store

import (
	"io/fs"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

// WriteFile replaces the file at path atomically: a reader, or a crash, sees the
// old bytes or the new ones. An existing file keeps its mode, a new one gets perm.
// A symbolic link stays, its target changes. Missing directories are created, for
// their owner only.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return atomicfile.Write(path, data, perm)
}
