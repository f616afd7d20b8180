package gateway

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// pinning is what is locked of the servers, as a running gateway follows it: by the lock
// beside each file that has entries.
type pinning struct {
	guard *lockfile.Guard
	other string // the servers.json of entries that are in no file, "" where nothing is compared

	mu    sync.Mutex // guards what follows
	files map[string]*lockFile
}

// lockFile is one servers.lock.json.
type lockFile struct {
	seen [sha256.Size]byte // of what was read last, or of why it could not be
	file *lockfile.File    // the last that could be used
}

// pathOf returns where the lock of an entry is.
func (p *pinning) pathOf(e config.Entry) string { return lockfile.Path(cmp.Or(e.File, p.other)) }

// openPins reads what is locked. A file that cannot be read is an error where a server
// is to be compared with it.
func (g *gateway) openPins(entries []config.Entry) error {
	p := &g.pins
	p.guard = &lockfile.Guard{Log: g.h.Log}
	if g.o.File == nil {
		return nil
	}
	p.other, p.files = g.o.File.Path(), map[string]*lockFile{}
	for _, e := range entries {
		if _, err := p.load(p.pathOf(e)); err != nil && lockfile.Mode(e.Pin).Or() != lockfile.Off {
			return err
		}
	}
	p.set(entries)
	return nil
}

// set sets which entries are compared with the lock file, and returns the names of those that
// are new among them.
func (p *pinning) set(entries []config.Entry) (changed []string) {
	if p.other == "" {
		return nil
	}
	policies := make(map[string]lockfile.Policy, len(entries))
	for _, e := range entries {
		policies[e.Name] = lockfile.Policy{Mode: lockfile.Mode(e.Pin), Locked: p.of(e)}
	}
	return p.guard.Set(policies)
}

// of returns what is locked of an entry, nil for nothing.
func (p *pinning) of(e config.Entry) *lockfile.Server {
	path := p.pathOf(e)
	p.mu.Lock()
	l := p.files[path]
	p.mu.Unlock()
	if l == nil { // of a layer that is new
		_, _ = p.load(path) // followPins tells
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[path].file.Servers[e.Name]
}

// load reads a file. It reports whether there is anything new; what was locked before
// stays where the file cannot be used. The same error is returned once.
func (p *pinning) load(path string) (news bool, err error) {
	raw, err := lockfile.Read(path)
	seen := sha256.Sum256(raw)
	if err != nil {
		seen = sha256.Sum256([]byte(err.Error()))
	}
	p.mu.Lock()
	l := p.files[path]
	same := l != nil && l.seen == seen
	if l == nil {
		l = &lockFile{file: &lockfile.File{}}
		p.files[path] = l
	}
	l.seen = seen
	p.mu.Unlock()
	switch {
	case same:
		return false, nil
	case err != nil:
		return false, err
	}
	file := &lockfile.File{}
	if raw != nil {
		if file, err = lockfile.Parse(path, raw); err != nil {
			return false, err
		}
	}
	file.DropTexts() // a proxy is long-lived, and shows no text
	p.mu.Lock()
	defer p.mu.Unlock()
	l.file = file
	return true, nil
}

// reload reads all files again. It returns the paths of those that have anything new.
func (p *pinning) reload() (news []string, err error) {
	p.mu.Lock()
	paths := slices.Sorted(maps.Keys(p.files))
	p.mu.Unlock()
	for _, path := range paths {
		changed, fault := p.load(path)
		if changed {
			news = append(news, path)
		}
		err = errors.Join(err, fault)
	}
	return news, err
}

// followPins takes over what has been locked or approved since.
func (g *gateway) followPins() {
	if g.pins.other == "" {
		return
	}
	news, err := g.pins.reload()
	if err != nil {
		g.h.Log.Warn("the lock file cannot be used: what it said before stays", ui.Attrs(err)...)
	}
	if len(news) == 0 {
		return
	}
	byName := *g.entries.Load()
	entries := make([]config.Entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	changed := g.pins.set(entries)
	for _, path := range news {
		g.pins.record(g, path)
	}
	g.h.Log.Info("lock file read", "file", news, "changed", changed)
	g.proxy.Repin(changed)
}
