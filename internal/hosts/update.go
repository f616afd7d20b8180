package hosts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const (
	maxSize  = 64 << 20 // bytes of a file; some hosts keep histories in theirs
	lockWait = 10 * time.Second
	// Claude Code locks with a folder that it touches every few seconds; one that is older
	// was left behind. Both are the defaults of the library proper-lockfile.
	lockStale = 10 * time.Second
	lockPause = 50 * time.Millisecond
)

// FileError is why a host's file cannot be used.
type FileError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ExitKind is that of a broken configuration.
func (*FileError) ExitKind() string { return "config" }

// ErrForm is why a file cannot be read as that of any host.
var ErrForm = errors.New("no servers in a form that mcpctl knows")

// Load reads the file of a location. Exists is false where there is none; the file is
// empty then. The error is a [*FileError].
func (l *Location) Load() (f *File, exists bool, err error) {
	text, err := readText(l.Path)
	if exists = !errors.Is(err, fs.ErrNotExist); exists && err != nil {
		return nil, false, &FileError{l.Path, err}
	}
	if f, err = l.Read(text); err != nil {
		return nil, exists, &FileError{l.Path, err}
	}
	return f, exists, nil
}

// readText reads a file. Errors do not repeat its path.
func readText(path string) ([]byte, error) {
	text, err := atomicfile.Read(path, maxSize)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return text, err
}

// Update edits the file of a location: it takes a lock, loads, calls edit, and writes if
// the text has changed. The file is replaced whole; it keeps its mode, a new one is for its
// owner only, and a symbolic link stays one. The lock, one for all hosts, is in lockDir;
// where the host has a lock of its own, that is taken as well. An error of edit is returned, and nothing
// is written.
func Update(ctx context.Context, l *Location, lockDir string, edit func(f *File, exists bool) (*File, error)) error {
	target, err := atomicfile.Resolve(l.Path)
	if err != nil {
		return &FileError{l.Path, err}
	}
	unlock, err := atomicfile.Lock(ctx, filepath.Join(lockDir, "lock"), lockWait)
	if err != nil {
		return &FileError{l.Path, fmt.Errorf("cannot be locked: %w", err)}
	}
	defer unlock()
	if l.Host.Name == "claude-code" {
		release, err := lockFolder(ctx, target+".lock")
		if err != nil {
			return &FileError{l.Path, err}
		}
		defer release()
	}
	atomicfile.Sweep(target)
	f, exists, err := l.Load()
	if err != nil {
		return err
	}
	edited, err := edit(f, exists)
	if err != nil || edited == nil || bytes.Equal(f.Bytes(), edited.Bytes()) {
		return err
	}
	return l.Write(edited.Bytes())
}

// Write replaces the file of a location.
func (l *Location) Write(text []byte) error {
	target, err := atomicfile.Resolve(l.Path)
	if err == nil {
		err = atomicfile.Write(target, text, 0o600)
	}
	if err != nil {
		return &FileError{l.Path, err}
	}
	return nil
}

// lockFolder takes a lock that is a folder.
func lockFolder(ctx context.Context, path string) (release func(), err error) {
	deadline := time.Now().Add(lockWait)
	for {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			return func() { _ = os.Remove(path) }, nil
		}
		if errors.Is(err, fs.ErrNotExist) { // the folder that the file is to be made in
			return func() {}, nil
		}
		info, gone := os.Stat(path)
		switch {
		case gone == nil && time.Since(info.ModTime()) > lockStale:
			_ = os.Remove(path)
			continue
		case time.Now().After(deadline):
			return nil, errors.New("the host holds its lock, " + path)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

func fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
