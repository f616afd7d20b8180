package configedit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const (
	lockWait = 10 * time.Second
	maxText  = 4 << 20 // bytes
)

// UpdateText edits the text file at path under a lock file next to it, as [config.Update]
// does. A missing file is an empty one. The file is replaced whole, and only if it changes.
func UpdateText(path string, edit func(text []byte) ([]byte, error)) error {
	err := atomicfile.Update(context.Background(), path, lockWait, func() ([]byte, error) {
		before, err := atomicfile.Read(path, maxText)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, config.FileProblem(path, err)
		}
		after, err := edit(before)
		if err != nil || bytes.Equal(before, after) {
			return nil, err
		}
		return append([]byte{}, after...), nil // an empty file is one, too
	})
	if failed, ok := errors.AsType[*atomicfile.UpdateError](err); ok {
		return config.FileProblem(path, failed)
	}
	return err
}
