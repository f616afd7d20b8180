package locking

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// pathOf returns where the lock of an entry is: beside the file that has the entry, or
// beside another one for an entry that is in none.
func pathOf(e config.Entry, other string) string { return lockfile.Path(cmp.Or(e.File, other)) }

// updateLock edits a lock file. That of a project must be in the project.
func updateLock(f *config.File, path string, edit func(*lockfile.File) error) error {
	for _, e := range f.Entries() {
		if e.Base == "" || pathOf(e, f.Path()) != path {
			continue
		}
		if err := layers.Inside(e.Base, path); err != nil {
			return err
		}
		break
	}
	return lockfile.Update(path, edit)
}

// locks are the lock files of all layers, by their paths.
type locks map[string]*lockfile.File

// loadLocks reads the locks of all entries, and that of the user, which may have servers
// that are configured no more.
func (p *Command) loadLocks(f *config.File) (locks, error) {
	all := locks{lockfile.Path(cmp.Or(p.ConfigPath, f.Path())): nil}
	for _, e := range f.Entries() {
		all[pathOf(e, f.Path())] = nil
	}
	for path := range all {
		var err error
		if all[path], err = lockfile.Load(path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// of returns what is locked of an entry, nil for nothing.
func (l locks) of(e config.Entry, f *config.File) *lockfile.Server {
	if lock := l[pathOf(e, f.Path())]; lock != nil {
		return lock.Servers[e.Name]
	}
	return nil
}

// others returns the names of locked servers that the file of their lock has no more.
func (l locks) others(f *config.File) []string {
	gone := map[string]bool{}
	for path, lock := range l {
		for _, name := range orphans(f, path, lock) {
			gone[name] = true
		}
	}
	return slices.Sorted(maps.Keys(gone))
}

// orphans returns the servers of a lock that its own file has no more. A server that
// another layer covers is none: its own file has it.
func orphans(f *config.File, path string, lock *lockfile.File) (names []string) {
	for name := range lock.Servers {
		if e, ok := f.Entry(name); !ok || pathOf(e, f.Path()) != path {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	own, err := config.Load(lockfile.ConfigPath(path))
	return slices.DeleteFunc(names, func(name string) bool {
		if _, used := f.Entry(name); !used {
			return false
		}
		if err != nil {
			return true // nobody knows
		}
		_, ok := own.Entry(name)
		return ok
	})
}
