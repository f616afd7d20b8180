package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

const (
	lockWait = 10 * time.Second
	lockTry  = 20 * time.Millisecond
)

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
	lock := flock.New(lockPath, flock.SetFlag(os.O_CREATE|os.O_RDONLY|atomicfile.NoWait), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	switch ok, err := lock.TryLockContext(ctx, lockTry); {
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{File: path, Message: "another program is editing it", Remedy: "try again; lsof " + lockPath + " shows which one"}
	case err != nil:
		return &Problem{File: path, Message: "cannot be locked: " + reason(err)}
	case !ok:
		return &Problem{File: path, Message: "cannot be locked"}
	}
	defer func() { _ = lock.Unlock() }() // closing the lock file is all that can fail
	atomicfile.Sweep(target)

	f, err := Load(path)
	if err != nil {
		return err
	}
	before := bytes.Clone(f.raw)
	if err := edit(f); err != nil {
		return err
	}
	if bytes.Equal(before, f.raw) {
		return nil
	}
	if err := atomicfile.Write(target, f.raw, 0o600); err != nil {
		return &Problem{File: path, Message: fmt.Sprintf("cannot be written: %v", err)}
	}
	return nil
}
