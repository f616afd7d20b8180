package gateway

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// reloading applies changes of the configuration to a running serve.
type reloading struct {
	g *gateway
	// lastValid are the last entries without a fault, by name: a server whose entry
	// breaks later keeps it.
	lastValid map[string]config.Entry
	// broken reports that the file was unusable when last read; faults are reported
	// faults of entries, absent are servers of --server that the file lacks.
	broken bool
	faults map[string]bool
	absent map[string]bool

	mu       sync.Mutex // guards what follows
	asked    bool       // report the result in any case
	settings []byte     // config.yaml without what is followed, as read or reported last
	// views is the whole of it as the views were read last, and that there were none.
	views struct {
		text []byte
		none bool
	}
}

// follow reloads servers.json on changes and at the signal HUP, until stop is called.
func (g *gateway) follow(file *config.File) (stop func()) {
	if file == nil {
		return g.h.OnHangup(func() { g.h.UI.Info("there is no configuration to read again") })
	}
	r := &reloading{g: g, lastValid: map[string]config.Entry{}, faults: map[string]bool{}, absent: map[string]bool{}}
	g.noteConfig(file.Path(), nil, file.Faults()...)
	now, _ := settings.ReadFile(g.h.Settings.File()) // may be missing
	r.settings = followed(now)
	r.views.text, r.views.none = now, g.h.Settings.Serve.Views == nil
	for _, e := range file.Enabled() {
		if e.Fault == nil {
			r.lastValid[e.Name] = e
		}
	}
	for _, p := range file.Faults() {
		r.faults[p.Error()] = true // reported when the server is used
	}
	o := g.o.Layers
	if info, err := os.Stat(o.Places.User); err == nil && !info.Mode().IsRegular() {
		// A pipe can be read only once.
		return g.h.OnHangup(func() { g.h.UI.Info("%s cannot be read again", o.Places.User) })
	}
	o.Changed, o.OthersChanged, o.Logger = r.changed, r.othersChanged, g.h.Log
	w := layers.Watch(o)
	unhang := g.h.OnHangup(func() {
		r.mu.Lock()
		r.asked = true
		r.mu.Unlock()
		w.Look()
		r.othersChanged()
		g.policies.follow(g)
	})
	return func() {
		unhang()
		w.Close()
	}
}

// changed applies a change of servers.json. It is called from one goroutine.
func (r *reloading) changed(f *config.File, err error) {
	h := r.g.h
	r.mu.Lock()
	asked := r.asked
	r.asked = false
	r.mu.Unlock()
	if err != nil {
		r.broken = true
		r.g.noteConfig("", err)
		h.Log.Warn("the configuration cannot be used: what it said before stays", ui.Attrs(err)...)
		return
	}
	if r.broken {
		r.broken = false
		h.Log.Warn("the configuration can be used again", "file", f.Path())
	}
	entries := r.choose(f)
	changes, err := r.g.reconfigure(f, entries)
	if err != nil {
		h.Log.Warn("the configuration is not taken over", "err", err)
		return
	}
	r.g.noteConfig(f.Path(), nil, f.Faults()...)
	if r.g.store != nil {
		setKnown(r.g.store.DB, f)
	}
	h.Log.Info("configuration read", "file", f.Path(), "added", changes.Added, "removed", changes.Removed, "replaced", changes.Replaced, "adjusted", changes.Adjusted)
	if !asked {
		return
	}
	var parts []string
	for _, p := range []struct {
		names []string
		what  string
	}{{changes.Added, "added"}, {changes.Removed, "removed"}, {changes.Replaced, "reconnected"}, {changes.Adjusted, "adjusted"}} {
		if len(p.names) > 0 {
			parts = append(parts, strings.Join(p.names, ", ")+" "+p.what)
		}
	}
	if parts == nil {
		parts = []string{"nothing has changed"}
	}
	h.UI.Info("%s: %s", f.Path(), strings.Join(parts, "; "))
}

// choose returns the entries to serve: those of the file, or of --server among
// them. An entry with a fault is replaced by its last version without.
func (r *reloading) choose(f *config.File) []config.Entry {
	h := r.g.h
	faults := map[string]bool{}
	for _, p := range f.Faults() {
		faults[p.Error()] = true
		if _, before := r.lastValid[p.Server]; !r.faults[p.Error()] && before {
			h.Log.Warn("an entry cannot be used: what it said before stays", ui.Attrs(&p)...)
		} else if !r.faults[p.Error()] {
			h.Log.Warn("an entry cannot be used", ui.Attrs(&p)...)
		}
	}
	r.faults = faults
	sound := map[string]config.Entry{}
	entries := f.Enabled()
	for i, e := range entries {
		if before, ok := r.lastValid[e.Name]; e.Fault != nil && ok {
			entries[i], e = before, before
		}
		if e.Fault == nil {
			sound[e.Name] = e
		}
	}
	r.lastValid = sound
	if len(r.g.o.Servers) == 0 {
		return entries
	}
	var chosen []config.Entry
	absent := map[string]bool{}
	for _, name := range r.g.o.Servers {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(entries, func(e config.Entry) bool { return e.Name == name })
		if i >= 0 {
			chosen = append(chosen, entries[i])
			continue
		}
		if absent[name] = true; !r.absent[name] {
			h.Log.Warn("a server of --server is not configured any more", "server", name)
		}
	}
	r.absent = absent
	return chosen
}

// othersChanged looks at the other files of the folder: what is locked counts at once, and that
// config.yaml has changed is reported, because it needs a restart, except the policies,
// views and hooks: see policing, followViews and looking.
func (r *reloading) othersChanged() {
	r.g.followPins()
	r.g.hooks.follow(r.g)
	now, err := settings.ReadFile(r.g.h.Settings.File())
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && !os.IsNotExist(err) || err == nil && blank(now) && !blank(r.views.text) { // it is being written
		return
	}
	r.followViews(now)
	if now = followed(now); bytes.Equal(now, r.settings) {
		return
	}
	r.settings = now
	r.g.h.Log.Warn("settings have changed: serve takes them over when it is started again", "file", r.g.h.Settings.File())
}

// blank reports whether a file has no text. One that had some may be being written, and what
// it said before stays.
func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// waitForText waits up to 200 ms while a file has no text: an editor that writes in place
// empties it first, and that is no change to speak of.
func waitForText(path string) {
	for range 10 {
		if text, err := settings.ReadFile(path); err != nil || !blank(text) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// followed returns the text of a config.yaml without what others take over.
func followed(text []byte) []byte {
	return settings.WithoutYAML(settings.WithoutViews(settings.WithoutAccess(text)), []string{"serve", "hooks"})
}
