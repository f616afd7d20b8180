package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// UpdateError is why Update could not read or write a file. Its text does not name the
// file.
type UpdateError struct {
	Reason string
	Remedy string // "" for none
	Err    error
}

// Error returns the reason.
func (e *UpdateError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *UpdateError) Unwrap() error { return e.Err }

// Hint returns the remedy.
func (e *UpdateError) Hint() string { return e.Remedy }

// Update edits the file at path: it takes a lock, removes what writers that were killed
// have left behind, calls edit, and writes what that returns; nil is nothing to write. The
// file is replaced whole. It keeps its mode, a new one is for its owner only, and a
// symbolic link stays a link to its target. Concurrent updates wait for one another, for
// within at most. Nothing is written after an error of edit, which is returned; any other
// is an [*UpdateError].
//
// The lock is a file of its own next to the target, ".servers.json.lock" for
// servers.json, and stays there.
func Update(ctx context.Context, path string, within time.Duration, edit func() ([]byte, error)) error {
	target, err := Resolve(path)
	if err != nil {
		return &UpdateError{Reason: reason(err), Err: err}
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &UpdateError{Reason: reason(err), Err: err}
	}
	lock := filepath.Join(dir, "."+filepath.Base(target)+".lock")
	unlock, err := Lock(ctx, lock, within)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &UpdateError{Reason: "another program is editing it", Remedy: "try again; lsof " + lock + " shows which one", Err: err}
	case err != nil:
		return &UpdateError{Reason: "cannot be locked: " + reason(err), Err: err}
	}
	defer unlock()
	Sweep(target)
	after, err := edit()
	if err != nil || after == nil {
		return err
	}
	if err := Write(target, after, 0o600); err != nil {
		return &UpdateError{Reason: fmt.Sprintf("cannot be written: %v", err), Err: err}
	}
	return nil
}

// reason returns an error's text without the path.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
