package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

const lockWait = 10 * time.Second

// Update edits the file at path: it takes a lock, loads, calls edit, checks
// and writes. Concurrent updates wait for one another, 10 s at most. The file is
// replaced atomically and only when the edit changed it; it keeps its mode (a new
// one is for its owner only), and a symbolic link stays a link to its target. An
// error of edit is returned and nothing is written.
//
// The lock is a file of its own beside the target, ".servers.json.lock" for
// servers.json, and stays there. Leftovers of killed updates are removed.
func Update(path string, edit func(*File) error) error {
	target, err := atomicfile.Resolve(path)
	if err != nil {
		return &Problem{File: path, Message: reason(err)}
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Problem{File: path, Message: reason(err)}
	}
	lockPath := filepath.Join(dir, "."+filepath.Base(target)+".lock")
	unlock, err := atomicfile.Lock(context.Background(), lockPath, lockWait)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{File: path, Message: "another program is editing it", Remedy: "try again; lsof " + lockPath + " shows which one"}
	case err != nil:
		return &Problem{File: path, Message: "cannot be locked: " + reason(err)}
	}
	defer unlock()
	atomicfile.Sweep(target)

	f, err := Load(path)
	if err != nil {
		return err
	}
	before := bytes.Clone(f.doc.Bytes())
	if err := edit(f); err != nil {
		return err
	}
	if bytes.Equal(before, f.doc.Bytes()) {
		return nil
	}
	if err := atomicfile.Write(target, f.doc.Bytes(), 0o600); err != nil {
		return &Problem{File: path, Message: fmt.Sprintf("cannot be written: %v", err)}
	}
	return nil
}
