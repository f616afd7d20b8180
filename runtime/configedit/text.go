package configedit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

const (
	lockWait = 10 * time.Second
	maxText  = 4 << 20 // bytes
)

// UpdateText edits the text file at path under a lock file next to it, as [config.Update]
// does. A missing file is an empty one. The file is replaced whole, and only if it changes.
func UpdateText(path string, edit func(text []byte) ([]byte, error)) error {
	target, err := atomicfile.Resolve(path)
	if err != nil {
		return config.FileProblem(path, err)
	}
	unlock, err := atomicfile.Lock(context.Background(), filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock"), lockWait)
	if errors.Is(err, context.DeadlineExceeded) {
		return &config.Problem{File: path, Message: "another program is editing it", Remedy: "try again"}
	}
	if err != nil {
		return config.FileProblem(path, err)
	}
	defer unlock()
	atomicfile.Sweep(target)
	before, err := atomicfile.Read(target, maxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.FileProblem(path, err)
	}
	after, err := edit(before)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if err := atomicfile.Write(target, after, 0o600); err != nil {
		return config.FileProblem(path, err)
	}
	return nil
}
