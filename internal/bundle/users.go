package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

const (
	tempStart = ".unpacking-"
	// lockWait bounds the wait for another process that edits the list of users.
	lockWait = 10 * time.Second
	// leftOver is how old a folder is that no process unpacks into any more.
	leftOver = time.Hour
	// maxUsers is far above any list of users, and maxConfig above any servers.json.
	maxUsers, maxConfig = 4 << 20, 64 << 20
)

// users are the files that may name a bundle's folder, by the folder's name. They are kept in
// users.json beside the folders.
type users map[string][]string

// Use notes that a servers.json is about to name the bundle's folder. Without the note, the
// folder stays.
func (b *Bundle) Use(ctx context.Context, config string) error {
	return b.store.edit(ctx, func(all users) {
		name := filepath.Base(b.Dir())
		if !slices.Contains(all[name], config) {
			all[name] = append(all[name], config)
		}
	})
}

// Prune removes the folders that none of their files names any more. A file that cannot be read
// is taken for one that does. A nil store has none.
func (s *Store) Prune(ctx context.Context) error {
	if s == nil {
		return nil
	}
	if _, err := os.Stat(s.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var failed error
	err := s.edit(ctx, func(all users) {
		for name, configs := range all {
			all[name] = slices.DeleteFunc(configs, func(path string) bool { return !names(path, name) })
			if len(all[name]) > 0 || !isFolder(name) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			delete(all, name)
		}
		failed = errors.Join(failed, s.sweep())
	})
	return errors.Join(err, failed)
}

// Holds reports whether a path is in the folder of a bundle.
func (s *Store) Holds(path string) bool {
	rest, err := filepath.Rel(s.Dir, path)
	return err == nil && filepath.IsAbs(path) && filepath.IsLocal(rest) && rest != "."
}

// isFolder reports whether a name is that of a bundle's folder.
func isFolder(name string) bool {
	return len(name) == sumLength && strings.Trim(name, "0123456789abcdef") == ""
}

// names reports whether a file has the name of a folder in it.
func names(path, folder string) bool {
	raw, err := atomicfile.Read(path, maxConfig)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return bytes.Contains(raw, []byte(folder))
}

// sweep removes what a process that died has unpacked in part.
func (s *Store) sweep() error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		info, bad := e.Info()
		if strings.HasPrefix(e.Name(), tempStart) && bad == nil && time.Since(info.ModTime()) > leftOver {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.Dir, e.Name())))
		}
	}
	return err
}

// edit changes the list of users.
func (s *Store) edit(ctx context.Context, change func(users)) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(s.Dir, "users.json")
	return atomicfile.Update(ctx, path, lockWait, func() ([]byte, error) {
		all := users{}
		raw, err := atomicfile.Read(path, maxUsers)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case json.Unmarshal(raw, &all) != nil:
			return nil, errors.New(path + " cannot be read: remove it if no server is a bundle")
		}
		change(all)
		after, err := json.MarshalIndent(all, "", "  ")
		if err != nil || bytes.Equal(bytes.TrimSpace(raw), after) {
			return nil, err
		}
		return append(after, '\n'), nil
	})
}
