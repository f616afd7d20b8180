package hosts

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
)

// Ledger is what was written to hosts' files: which entries are ours, and what was there
// before. It is a file in the state directory, open to its owner only, with a copy of each
// file beside it. It is used under the lock of [Update].
type Ledger struct {
	dir string // of the copies
	// Files are by [Location.Key].
	Files map[string]*Written `json:"files"`
}

// Written is one file that was written to.
type Written struct {
	Host  string   `json:"host"`
	Scope string   `json:"scope"`
	Path  string   `json:"path"`
	Root  []string `json:"root"`
	// Copy names the copy of the file before the first edit, "" where there was no file.
	Copy string `json:"copy,omitempty"`
	// After is the fingerprint of the file after the last edit.
	After string `json:"after"`
	// All says that new servers are exported as well, Gateway that the entry of a gateway
	// is there.
	All     bool `json:"all,omitempty"`
	Gateway bool `json:"gateway,omitempty"`
	// Entries are those that were written or taken out, by name.
	Entries map[string]Change `json:"entries"`
}

// Change is one entry in a host's file.
type Change struct {
	// Now is the fingerprint of the entry as it was written, "" if it was taken out.
	Now string `json:"now,omitempty"`
	// Before is the entry that it replaced, nil for none.
	Before json.RawMessage `json:"before,omitempty"`
}

// Key identifies a list of servers: a file, and where in it.
func (l *Location) Key() string { return l.Path + "#" + strings.Join(l.Root, "/") }

// OpenLedger reads the ledger in a state directory.
func OpenLedger(stateDir string) (*Ledger, error) {
	led := &Ledger{dir: LockDir(stateDir), Files: map[string]*Written{}}
	raw, err := atomicfile.Read(led.path(), maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return led, nil
	case err == nil:
		err = json.Unmarshal(raw, led)
	}
	if err != nil {
		return nil, &FileError{led.path(), err}
	}
	if led.Files == nil {
		led.Files = map[string]*Written{}
	}
	return led, nil
}

func (led *Ledger) path() string { return filepath.Join(led.dir, "ledger.json") }

// LockDir is the folder in a state directory where [Update] has its lock.
func LockDir(stateDir string) string { return filepath.Join(stateDir, "hosts") }

// Names returns the entries that were written or taken out, sorted.
func (w *Written) Names() []string { return slices.Sorted(maps.Keys(w.Entries)) }

// Owns reports whether an entry is as mcpctl has written it.
func (led *Ledger) Owns(l *Location, name string, raw json.RawMessage) bool {
	w := led.Files[l.Key()]
	return w != nil && w.Entries[name].Now != "" && w.Entries[name].Now == fingerprint(raw)
}

// Start returns the record of a file that is about to be edited. The first time, a copy of
// it is kept.
func (led *Ledger) Start(f *File, exists bool) (*Written, error) {
	l := f.Location
	if w := led.Files[l.Key()]; w != nil {
		return w, nil
	}
	w := &Written{Host: l.Host.Name, Scope: l.Scope, Path: l.Path, Root: l.Root, Entries: map[string]Change{}}
	if exists {
		w.Copy = fingerprint([]byte(l.Key()))[:16]
		if err := atomicfile.Write(filepath.Join(led.dir, w.Copy), f.Bytes(), 0o600); err != nil {
			return nil, &FileError{led.dir, err}
		}
	}
	led.Files[l.Key()] = w
	return w, nil
}

// Record records one change from a file to another; it is the entry's last state that counts,
// and the first that undo restores.
func (w *Written) Record(before, after *File, name string) {
	c, known := w.Entries[name]
	if !known {
		c.Before = before.Raw(name)
	}
	c.Now = ""
	if raw := after.Raw(name); raw != nil {
		c.Now = fingerprint(raw)
	}
	w.Entries[name] = c
	w.After = fingerprint(after.Bytes())
}

// Save writes the ledger.
func (led *Ledger) Save() error {
	raw, err := json.MarshalIndent(led, "", "  ")
	if err == nil {
		err = atomicfile.Write(led.path(), append(raw, '\n'), 0o600)
	}
	if err != nil {
		return &FileError{led.path(), err}
	}
	return nil
}

// Original returns the text of a file before the first edit, if nothing else has edited it
// since; ok is false if something has. A nil text: there was no file.
func (led *Ledger) Original(w *Written, now []byte) (text []byte, ok bool, err error) {
	if fingerprint(now) != w.After {
		return nil, false, nil
	}
	if w.Copy == "" {
		return nil, true, nil
	}
	text, err = atomicfile.Read(filepath.Join(led.dir, w.Copy), maxSize)
	if err != nil {
		return nil, false, &FileError{led.dir, err}
	}
	return text, true, nil
}

// Revert takes back the changes of a file that something else has edited as well. Left are
// entries that are no longer as they were written, which stay.
func (w *Written) Revert(f *File) (reverted *File, left []string, err error) {
	for _, name := range w.Names() {
		c := w.Entries[name]
		now := f.Raw(name)
		switch {
		case now == nil && c.Now != "": // taken out by somebody else
			continue
		case now != nil && fingerprint(now) != c.Now:
			left = append(left, name)
			continue
		case c.Before != nil:
			f, err = f.Set(name, c.Before)
		default:
			f, err = f.Remove(name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return f, left, nil
}

// Forget drops the record of a file and its copy.
func (led *Ledger) Forget(l *Location) {
	if w := led.Files[l.Key()]; w != nil && w.Copy != "" {
		_ = os.Remove(filepath.Join(led.dir, w.Copy))
	}
	delete(led.Files, l.Key())
}

// Locations returns the files that were written to, by path.
func (led *Ledger) Locations() []*Location {
	var out []*Location
	for _, key := range slices.Sorted(maps.Keys(led.Files)) {
		w := led.Files[key]
		if h := Find(w.Host); h != nil {
			out = append(out, &Location{Host: h, Scope: w.Scope, Path: w.Path, Root: w.Root})
		}
	}
	return out
}
