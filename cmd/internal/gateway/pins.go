package gateway

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/pins"
)

// pinning is what is locked of the servers, as a running gateway follows it.
type pinning struct {
	guard *pins.Guard
	path  string // of servers.lock.json, "" where nothing is compared

	mu   sync.Mutex // guards what follows
	file *pins.File // the last that could be read
	raw  []byte     // of what was read last, also if it could not be
}

// openPins reads what is locked. A file that cannot be read is an error where a server
// is to be compared with it.
func (g *gateway) openPins(entries []config.Entry) error {
	g.pins.guard = &pins.Guard{Log: g.h.Log}
	if g.o.File == nil {
		return nil
	}
	g.pins.path = pins.Path(g.o.File.Path())
	g.pins.raw, _ = os.ReadFile(g.pins.path) // an error is one of Load, too
	file, err := pins.Load(g.pins.path)
	if err != nil {
		for _, e := range entries {
			if pins.Mode(e.Pin).Or() != pins.Off {
				return err
			}
		}
		file = &pins.File{}
	}
	file.DropTexts() // a proxy is long-lived, and shows no text
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

// read reads the file again. It reports whether there is anything new; a file that
// cannot be read is told of once, and what was locked before stays.
func (p *pinning) read() (news bool, err error) {
	raw, err := os.ReadFile(p.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil // it is being replaced, or was made unreadable: looked at again with the next event
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes.Equal(raw, p.raw) {
		return false, nil
	}
	p.raw = raw
	file := &pins.File{}
	if len(raw) > 0 {
		if file, err = pins.Parse(p.path, raw); err != nil {
			return false, err
		}
		file.DropTexts()
	}
	p.file = file
	return true, nil
}

// followPins takes over what has been locked or approved since.
func (g *gateway) followPins() {
	if g.pins.path == "" {
		return
	}
	news, err := g.pins.read()
	if err != nil {
		g.h.Log.Warn("the lock file cannot be used: what it said before stays", problem(err)...)
		return
	}
	if !news {
		return
	}
	byName := *g.entries.Load()
	entries := make([]config.Entry, 0, len(byName))
	for _, e := range byName {
		entries = append(entries, e)
	}
	changed := g.pins.set(entries)
	g.h.Log.Info("lock file read", "file", g.pins.path, "changed", changed)
	g.proxy.Repin(changed)
}
