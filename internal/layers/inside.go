package layers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// OutsideError is that a file of a project is, or would be, outside of it: the file, or a
// folder above it, is a symbolic link, which whoever wrote the project may have made.
type OutsideError struct {
	// Path is the file by its name in the project, Target where it leads to.
	Path, Target string
}

// Error says where the file leads to.
func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s leads out of the project, to %s: nothing was written", e.Path, e.Target)
}

// Hint says how to go on.
func (*OutsideError) Hint() string {
	return "replace the symbolic link with a file or a folder of the project"
}

// ExitKind is "config".
func (*OutsideError) ExitKind() string { return "config" }

// Inside returns an [*OutsideError] if a file, which need not exist, is not in the project
// that a folder belongs to: the repository of git around the folder, or the folder itself.
func Inside(dir, path string) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	target, err := realPath(path)
	if err != nil {
		return err
	}
	for at := root; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			root = at
			break
		}
	}
	if rel, err := filepath.Rel(root, target); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return &OutsideError{path, target}
	}
	return nil
}

// realPath returns a path without symbolic links, of a file that need not exist, in folders
// that need not either.
func realPath(path string) (string, error) {
	path, err := atomicfile.Resolve(path)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		dir, err = realPath(filepath.Dir(path))
	}
	return filepath.Join(dir, filepath.Base(path)), err
}
