// Package atomicfile reads and replaces the files that mcpctl keeps. Whoever
// reads one that was replaced sees the old bytes or the new ones, never a part,
// also after a crash.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Write puts data into the file at path: into a temporary file beside it,
// synced, then renamed. An existing file keeps its mode; a new one gets perm, without what
// the umask takes away.
// A symbolic link is followed, so the link stays and its target changes.
// Missing directories are made, open to their owner only. On failure the file
// is as it was and the temporary file is gone; a process that is killed leaves
// one, see [Sweep].
func Write(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, true)
}

// WriteUnsynced is Write without waiting for the disk: if the machine loses power soon
// after, the file may be empty or not there. It is for what can be found out again.
func WriteUnsynced(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, false)
}

func write(path string, data []byte, perm fs.FileMode, sync bool) (err error) {
	path, err = Resolve(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	info, err := os.Stat(path)
	exists := err == nil
	switch {
	case exists && !info.Mode().IsRegular():
		return fmt.Errorf("write %s: not a regular file", path)
	case exists:
		perm = 0o600 // until it has what was written
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp, err := createTemp(path, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = tmp.Close() // closed twice on some paths, which does no harm
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if exists {
		if err = tmp.Chmod(info.Mode().Perm()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if sync {
		if err = tmp.Sync(); err != nil {
			return err
		}
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	if sync {
		syncDir(dir)
	}
	return nil
}

// createTemp makes a temporary file for path. [os.CreateTemp] knows no other mode than 0600.
func createTemp(path string, perm fs.FileMode) (*os.File, error) {
	for {
		name := filepath.Join(filepath.Dir(path), tempStart(path)+strconv.FormatUint(uint64(rand.Uint32()), 10)+tempEnd) //nolint:gosec // two writers differ, no more
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// maxLinks is where a chain of symbolic links is taken for a circle.
const maxLinks = 40

// Resolve follows the symbolic links that path itself is, also to a target
// that does not exist yet. Links among its parent directories stay.
func Resolve(path string) (string, error) {
	start := path
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", start)
}

// syncDir makes the rename itself durable. Not every system can sync a
// directory; the file's content is safe either way.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}
