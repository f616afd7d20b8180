package config

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const lockWait = 10 * time.Second

// Update edits the file at path: it takes a lock, loads, calls edit, checks
// and writes. Concurrent updates wait for one another, 10 s at most. The file is
// replaced atomically and only when the edit changed it; it keeps its mode (a new
// one is for its owner only), and a symbolic link stays a link to its target. An
// error of edit is returned and nothing is written.
//
// A path with the name of [InlineVariable] cannot be updated.
//
// The lock is a file of its own beside the target, ".servers.json.lock" for
// servers.json, and stays there. Leftovers of killed updates are removed.
func Update(path string, edit func(*File) error) error {
	if IsInline(path) {
		return &Problem{Message: "servers.json is in the variable " + InlineVariable + ", which mcpctl does not change", Remedy: "change the variable, or name a file with --config"}
	}
	err := atomicfile.Update(context.Background(), path, lockWait, func() ([]byte, error) {
		f, err := Load(path)
		if err != nil {
			return nil, err
		}
		before := bytes.Clone(f.doc.Bytes())
		if err := edit(f); err != nil || bytes.Equal(before, f.doc.Bytes()) {
			return nil, err
		}
		return f.doc.Bytes(), nil
	})
	if failed, ok := errors.AsType[*atomicfile.UpdateError](err); ok {
		return FileProblem(path, failed)
	}
	return err
}
