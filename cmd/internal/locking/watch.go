package locking

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// watch compares what a command is told by its server with what is locked of it. Its
// methods may be called concurrently.
type watch struct {
	server string
	policy lockfile.Policy

	mu       sync.Mutex // guards what follows
	verdicts [lockfile.Lists]*lockfile.Verdict
	told     []string // what differs, in the order in which it was found
}

// newWatch returns a watch for a configured server by the lock beside servers.json, nil
// where nothing is to be compared. A lock that cannot be read is an error for a server
// that is to be held, and a note for another.
func newWatch(configPath string, entry config.Entry, note func(format string, a ...any)) (*watch, error) {
	mode := lockfile.Mode(entry.Pin).Or()
	if mode == lockfile.Off || entry.Name == "" {
		return nil, nil
	}
	locked, err := lockfile.LoadServer(pathOf(entry, configPath), entry.Name)
	switch {
	case err != nil && mode == lockfile.Hold:
		return nil, err
	case err != nil:
		note("warning: %v", err)
		return nil, nil
	case locked == nil && mode == lockfile.Warn:
		return nil, nil // nothing is locked yet
	}
	return &watch{server: entry.Name, policy: lockfile.Policy{Mode: mode, Locked: locked}}, nil
}

// about compares what the server says of itself.
func (w *watch) about(info runtime.ServerInfo) {
	if w.policy.Locked != nil {
		w.tell(lockfile.Check(w.policy, &lockfile.Offer{About: &lockfile.About{Name: info.Implementation.Name, Title: info.Implementation.Title, Instructions: info.Instructions}}))
	}
}

// pages compares a list and returns its pages without what is held back.
func (w *watch) pages(l lockfile.List, pages []json.RawMessage) []json.RawMessage {
	o := &lockfile.Offer{}
	o.Items[l] = []lockfile.Item{}
	for _, page := range pages {
		var members map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(page, &members) == nil && json.Unmarshal(members[l.Member()], &items) == nil {
			o.Items[l] = append(o.Items[l], lockfile.Items(l, items)...)
		}
	}
	v := lockfile.Check(w.policy, o)
	w.tell(v)
	w.mu.Lock()
	w.verdicts[l] = v
	w.mu.Unlock()
	out := make([]json.RawMessage, len(pages))
	for i, page := range pages {
		out[i] = v.Filter(l, page)
	}
	return out
}

func (w *watch) tell(v *lockfile.Verdict) {
	text := v.String()
	w.mu.Lock()
	defer w.mu.Unlock()
	if text != "" && (len(w.told) == 0 || !v.Unlocked) {
		w.told = append(w.told, strings.TrimSuffix(text, "; held back"))
	}
}

// warning returns one line about what differs, "" for nothing.
func (w *watch) warning() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(w.told, "; ")
	switch {
	case text == "":
		return ""
	case w.policy.Locked == nil:
		return fmt.Sprintf("warning: %s: %s (mcpctl lock %s)", w.server, text, w.server)
	case w.policy.Mode == lockfile.Hold:
		return fmt.Sprintf("warning: %s: not as it is locked, and held back: %s (mcpctl lock diff %s)", w.server, text, w.server)
	}
	return fmt.Sprintf("warning: %s: not as it is locked: %s (mcpctl lock diff %s)", w.server, text, w.server)
}

// verdict returns that of a list, nil as long as it is not known.
func (w *watch) verdict(l lockfile.List) *lockfile.Verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.verdicts[l]
}

func listOf(name string) (lockfile.List, bool) {
	for l := range lockfile.Lists {
		if method(l) == name {
			return l, true
		}
	}
	return 0, false
}

// Stored returns a function that leaves out of a stored list what is held back.
func Stored(configPath string) func(server config.Entry, member string, items []json.RawMessage) []json.RawMessage {
	return func(server config.Entry, member string, items []json.RawMessage) []json.RawMessage {
		l, ok := lockfile.ListOf(member)
		if !ok || lockfile.Mode(server.Pin) != lockfile.Hold {
			return items
		}
		locked, err := lockfile.LoadServer(pathOf(server, configPath), server.Name)
		if err != nil {
			return nil // nothing is known to be approved
		}
		o := &lockfile.Offer{}
		o.Items[l] = lockfile.Items(l, items)
		v := lockfile.Check(lockfile.Policy{Mode: lockfile.Hold, Locked: locked}, o)
		var raws []json.RawMessage
		for _, it := range o.Items[l] {
			if !v.Holds(l, it.Key) {
				raws = append(raws, it.Raw)
			}
		}
		return raws
	}
}
