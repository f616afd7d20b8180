package gateway

import (
	"crypto/sha256"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/pins"
)

// pinning is what is locked of the servers, as a running gateway follows it.
type pinning struct {
	guard *pins.Guard
	path  string // of servers.lock.json, "" where nothing is compared

	mu   sync.Mutex        // guards what follows
	file *pins.File        // the last that could be read
	seen [sha256.Size]byte // of what was read last, or of why it could not be
}

// openPins reads what is locked. A file that cannot be read is an error where a server
// is to be compared with it.
func (g *gateway) openPins(entries []config.Entry) error {
	g.pins.guard = &pins.Guard{Log: g.h.Log}
	if g.o.File == nil {
		return nil
	}
	g.pins.path = pins.Path(g.o.File.Path())
	file, err := g.pins.load()
	if err != nil {
		for _, e := range entries {
			if pins.Mode(e.Pin).Or() != pins.Off {
				return err
			}
		}
		file = &pins.File{}
	}
	g.pins.file = file
	g.pins.set(entries)
	return nil
}

// set has the entries compared as they say, and returns the names of those for which
// that is new.
func (p *pinning) set(entries []config.Entry) (changed []string) {
	if p.path == "" {
		return nil
	}
	p.mu.Lock()
	file := p.file
	p.mu.Unlock()
	policies := make(map[string]pins.Policy, len(entries))
	for _, e := range entries {
		policies[e.Name] = pins.Policy{Mode: pins.Mode(e.Pin), Locked: file.Servers[e.Name]}
	}
	return p.guard.Set(policies)
}

// load reads the file, if it is another than the last one; else both results are nil.
func (p *pinning) load() (*pins.File, error) {
	raw, err := pins.Read(p.path)
	seen := sha256.Sum256(raw)
	if err != nil {
		seen = sha256.Sum256([]byte(err.Error()))
	}
	p.mu.Lock()
	same := seen == p.seen && p.file != nil
	p.seen = seen
	p.mu.Unlock()
	switch {
	case same:
		return nil, nil
	case err != nil:
		return nil, err
	}
	file := &pins.File{}
	if raw != nil {
		if file, err = pins.Parse(p.path, raw); err != nil {
			return nil, err
		}
	}
	file.DropTexts() // a proxy is long-lived, and shows no text
	return file, nil
}

// followPins takes over what has been locked or approved since.
func (g *gateway) followPins() {
	if g.pins.path == "" {
		return
	}
	file, err := g.pins.load()
	switch {
	case err != nil:
		g.h.Log.Warn("the lock file cannot be used: what it said before stays", problem(err)...)
		return
	case file == nil:
		return
	}
	g.pins.mu.Lock()
	g.pins.file = file
	g.pins.mu.Unlock()
	byName := *g.entries.Load()
	entries := make([]config.Entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	changed := g.pins.set(entries)
	g.h.Log.Info("lock file read", "file", g.pins.path, "changed", changed)
	g.proxy.Repin(changed)
}
