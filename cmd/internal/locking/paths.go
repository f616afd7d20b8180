package locking

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/pins"
)

// pathOf returns where the lock of an entry is: beside the file that has the entry, or
// beside another one for an entry that is in none.
func pathOf(e config.Entry, other string) string { return pins.Path(cmp.Or(e.File, other)) }

// locks are the lock files of all layers, by their paths.
type locks map[string]*pins.File

// loadLocks reads the locks of all entries, and that of the user, which may have servers
// that are configured no more.
func (p *Program) loadLocks(f *config.File) (locks, error) {
	all := locks{pins.Path(cmp.Or(p.ConfigPath, f.Path())): nil}
	for _, e := range f.Entries() {
		all[pathOf(e, f.Path())] = nil
	}
	for path := range all {
		var err error
		if all[path], err = pins.Load(path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// of returns what is locked of an entry, nil for nothing.
func (l locks) of(e config.Entry, f *config.File) *pins.Server {
	if lock := l[pathOf(e, f.Path())]; lock != nil {
		return lock.Servers[e.Name]
	}
	return nil
}

// others returns the names of locked servers that the file of their lock has no more.
func (l locks) others(f *config.File) []string {
	gone := map[string]bool{}
	for path, lock := range l {
		for name := range lock.Servers {
			if !has(f, path, name) {
				gone[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(gone))
}

// has reports whether a server is configured whose lock is at a path. A server that
// another layer covers is: its own file has it.
func has(f *config.File, path, name string) bool {
	e, ok := f.Entry(name)
	return ok && (pathOf(e, f.Path()) == path || covers(path, name))
}

// covers reports whether the servers.json beside a lock has a server of a name.
func covers(lock, name string) bool {
	own, err := config.Load(pins.ConfigPath(lock))
	if err != nil {
		return true // nobody knows
	}
	_, ok := own.Entry(name)
	return ok
}
