package catalog

import (
	"iter"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

const (
	// maxTombstones bounds what is remembered of one list of one server, in names or
	// URIs, maxRemoved how many removed servers are remembered. Beyond it the
	// server's others, and the servers removed first, are forgotten.
	maxTombstones = 4096
	maxRemoved    = 1024
)

// Tombstones is what servers have listed and list no more. It is used by one goroutine at a time.
type Tombstones struct {
	of      memories
	shown   memories // names that clients have been shown without a prefix, and may go on using
	removed []string // servers that are not configured any more, the oldest first
}

// newTombstones returns none.
func newTombstones() Tombstones { return Tombstones{of: memories{}, shown: memories{}} }

// Show remembers a name that clients have been shown without a prefix.
func (h *Tombstones) Show(server string, k inventory.Kind, key string) { h.shown.add(server, k, key) }

// ShownOfAnother returns a server other than one that clients have been shown a name of, "" for
// none.
func (h *Tombstones) ShownOfAnother(server string, k inventory.Kind, key string) string {
	return h.shown.ofAnother(server, k, key)
}

// Removed returns the servers that are not configured any more, the oldest first.
func (h *Tombstones) Removed() []string { return slices.Clone(h.removed) }

// memories are names and URIs by server and list.
type memories map[string]*[inventory.Kinds]map[string]struct{}

// Add remembers what a server listed before and does not list now; a nil
// inventory lists nothing.
func (h *Tombstones) Add(server string, before, after *inventory.Inventory) {
	if before == nil {
		return
	}
	for k := range inventory.Kinds {
		if len(before.Items[k]) == 0 {
			continue
		}
		now := map[string]struct{}{}
		if after != nil {
			for _, it := range after.Items[k] {
				now[it.Key] = struct{}{}
			}
		}
		for i := range before.Items[k] {
			it := &before.Items[k][i]
			if _, still := now[it.Key]; still {
				continue
			}
			h.of.add(server, k, it.Key)
			if it.Facts&inventory.Pictured != 0 {
				for _, uri := range inventory.AppOf(it.Raw).URIs {
					h.of.add(server, inventory.Resources, uri)
				}
			}
		}
	}
}

func (m memories) add(server string, k inventory.Kind, key string) {
	lists := m[server]
	if lists == nil {
		lists = new([inventory.Kinds]map[string]struct{})
		m[server] = lists
	}
	if lists[k] == nil {
		lists[k] = map[string]struct{}{}
	}
	if _, ok := lists[k][key]; !ok && len(lists[k]) >= maxTombstones {
		for other := range lists[k] {
			delete(lists[k], other)
			break
		}
	}
	lists[k][key] = struct{}{}
}

// ofAnother returns a server other than one that has a key, "" for none.
func (m memories) ofAnother(server string, k inventory.Kind, key string) string {
	for other, lists := range m {
		if _, ok := lists[k][key]; ok && other != server {
			return other
		}
	}
	return ""
}

// tombstone is something that a server has listed and lists no more.
type tombstone struct {
	Server string
	Kind   inventory.Kind
	Key    string
}

// All returns what servers have listed and list no more.
func (h *Tombstones) All() iter.Seq[tombstone] {
	return func(yield func(tombstone) bool) {
		for server, lists := range h.of {
			for k := range inventory.Kinds {
				for key := range lists[k] {
					if !yield(tombstone{server, k, key}) {
						return
					}
				}
			}
		}
	}
}

// Remove notes that a server is not configured any more. It returns the servers
// that are forgotten.
func (h *Tombstones) Remove(server string) (forgotten []string) {
	h.removed = append(h.removed, server)
	for len(h.removed) > maxRemoved {
		forgotten = append(forgotten, h.removed[0])
		delete(h.of, h.removed[0])
		delete(h.shown, h.removed[0])
		h.removed = h.removed[1:]
	}
	return forgotten
}

// Back notes that a server is configured again.
func (h *Tombstones) Back(server string) {
	h.removed = slices.DeleteFunc(h.removed, func(s string) bool { return s == server })
}
