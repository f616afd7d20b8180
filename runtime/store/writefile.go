package store

import (
	"io/fs"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

// WriteFile replaces the file at path whole, so that a reader sees the old
// bytes or the new ones and a crash leaves one of the two. An existing file
// keeps its mode, a new one gets perm. A symbolic link stays, its target
// changes. Missing directories are made, open to their owner only.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return atomicfile.Write(path, data, perm)
}
