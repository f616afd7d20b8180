package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Section is what one backend adds to one list. It is immutable, and part of every
// catalog until what the backend offers changes, or is exposed otherwise because
// of what others offer. It holds no text of its own but the names: the list is
// written from it when a client asks.
type Section struct {
	backend   *upstream.Backend
	kind      inventory.Kind
	inventory *inventory.Inventory
	keys      []string // what clients call each item, given unclear
	unclear   bool     // see Names.Unclear
	entries   []*entry
	hooks     *hooks.Set

	once sync.Once
	sum  [sha256.Size]byte // see digest

	costOnce sync.Once
	cost     int // see Cost
}

// entry is one item as clients see it.
type entry struct {
	item    *inventory.Item
	own     *inventory.Item // as a view has it, nil: the same
	exposed string
	titled  bool           // another backend lists the same title
	uris    []rawjson.Edit // expose what leads to a tool's user interface
	route   Route
}

// shown returns the item as clients see it, but for names and URIs.
func (e *entry) shown() *inventory.Item { return cmp.Or(e.own, e.item) }

// sectionOf returns a backend's part of a list, the one before where it is the
// same. The caller holds Publisher.mu.
func (c *Catalog) sectionOf(p *Publisher, k inventory.Kind, b *upstream.Backend, titles map[string]*upstream.Backend) *Section {
	current := p.offers.at(b)
	before := current.sections[k]
	looking := p.o.Hooks.Now()
	if before != nil && (before.inventory != current.inventory || before.hooks != looking) {
		before = nil
	}
	keys, unclear := c.exposedKeys(p, k, b, before), c.names.Unclear(b.Name)
	if before != nil && slices.Equal(before.keys, keys) && before.fits(c, p, titles) {
		return before
	}
	items := current.inventory.Items[k]
	s := &Section{backend: b, kind: k, inventory: current.inventory, keys: keys, unclear: unclear, hooks: looking}
	all := make([]entry, 0, len(items)) // which has room for each: entries point into it
	digests := make([]inventory.Digest, len(items))
	s.entries = make([]*entry, 0, len(items))
	seen := make(map[string]bool, len(items))
	for i := range items {
		it, exposed := &items[i], keys[i]
		if seen[exposed] {
			b.Log.Warn("backend lists one name twice; the first counts", "name", it.Key)
			continue
		}
		seen[exposed] = true
		all = append(all, entry{it, nil, exposed, it.Title != "" && titles[it.Title] == nil, c.exposedUI(b, k, it), Route{
			Backend: b, Bare: it.Key, Quoted: it.KeyAt.Of(it.Raw), Wrapped: exposed != it.Key, Definition: it.Raw,
			Mirrors: it.Mirrors, Support: it.Support, Wraps: it.Facts&inventory.Wrapping != 0,
			at: i, digest: &digests[i],
		}})
		if k == inventory.Tools {
			all[len(all)-1].route.Hooks = looking.Of(b.Name, it.Key, exposed, it.Raw)
		}
		s.entries = append(s.entries, &all[len(all)-1])
	}
	current.sections[k] = s
	return s
}

// fits reports whether the entries are as they would be now.
func (s *Section) fits(c *Catalog, p *Publisher, titles map[string]*upstream.Backend) bool {
	for _, e := range s.entries {
		if e.titled != (e.item.Title != "" && titles[e.item.Title] == nil) || e.item.Facts&inventory.Pictured != 0 && !equalEdits(e.uris, c.exposedUI(s.backend, s.kind, e.item)) {
			return false
		}
	}
	return true
}

// with returns the section with other entries.
func (s *Section) with(entries []*entry) *Section {
	return &Section{backend: s.backend, kind: s.kind, inventory: s.inventory, keys: s.keys, unclear: s.unclear, entries: entries, hooks: s.hooks}
}

// same reports whether two sections have the same text.
func (s *Section) same(o *Section) bool {
	return s == o || s.backend.Name == o.backend.Name && slices.EqualFunc(s.entries, o.entries, func(a, b *entry) bool {
		return a.exposed == b.exposed && a.titled == b.titled && bytes.Equal(a.shown().Raw, b.shown().Raw) && equalEdits(a.uris, b.uris)
	})
}

func equalEdits(a, b []rawjson.Edit) bool {
	return slices.EqualFunc(a, b, func(x, y rawjson.Edit) bool { return x.Span == y.Span && bytes.Equal(x.New, y.New) })
}

// digest returns a hash of the text, which is the same in every process.
func (s *Section) digest() [sha256.Size]byte {
	s.once.Do(func() {
		about := append([]byte(s.backend.Name), 0)
		for _, e := range s.entries {
			about = append(append(about, e.exposed...), 0)
			raw := e.shown().Raw
			about = binary.AppendUvarint(about, uint64(len(raw)))
			about = binary.BigEndian.AppendUint32(about, inventory.Checksum(raw))
			if e.titled {
				about = append(about, 1)
			}
			for _, edit := range e.uris {
				about = append(append(about, 2), edit.New...)
			}
		}
		s.sum = sha256.Sum256(about)
	})
	return s.sum
}

// versionOf returns a text that is the same for equal lists and for no others.
func versionOf(sections []*Section, own []byte) string {
	h := sha256.New()
	for _, s := range sections {
		sum := s.digest()
		_, _ = h.Write(sum[:])
	}
	_, _ = h.Write(own)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// exposedUI returns the edits that expose the URIs of a tool's user interface.
func (c *Catalog) exposedUI(b *upstream.Backend, k inventory.Kind, it *inventory.Item) []rawjson.Edit {
	if k != inventory.Tools || c.single || it.Facts&inventory.Pictured == 0 {
		return nil
	}
	t := Text{Of: it.Raw, Name: func(uri string) string { return c.exposeURI(b, uri) }}
	if at, err := rawjson.Field(it.Raw, "_meta"); err == nil && at.Present() {
		t.Meta(at)
	}
	return t.Edits
}

// appendEntry appends an item with its name, title and URIs as exposed, and
// without icons that a client should not fetch.
func (s *Section) appendEntry(dst []byte, p *Publisher, e *entry) []byte {
	it, name := e.shown(), s.backend.Name
	var buf [4]rawjson.Edit
	edits := append(buf[:0], e.uris...)
	if e.exposed != it.Key {
		edits = append(edits, rawjson.Edit{Span: it.KeyAt, New: rawjson.Quote(nil, e.exposed)})
	}
	if (s.kind == inventory.Resources || s.kind == inventory.Templates) && it.NameAt.Present() && !p.o.NoPrefix {
		edits = append(edits, rawjson.Edit{Span: it.NameAt, New: rawjson.Quote(nil, name+p.o.Separator+it.Name)})
	}
	if e.titled {
		edits = append(edits, rawjson.Edit{Span: it.TitleAt, New: rawjson.Quote(nil, it.Title+" ("+name+")")})
	}
	if s.kind != inventory.Tools || it.Facts&inventory.Iconic != 0 {
		edits = append(edits, UnsafeIcons(it.Raw)...)
	}
	if len(edits) > 1 {
		slices.SortFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	}
	return rawjson.Splice(dst, it.Raw, edits...)
}

// appendEntries appends some of the entries, with commas between them, in the words
// of an era.
func (s *Section) appendEntries(dst []byte, p *Publisher, c *revision.Conversion, entries []*entry) []byte {
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		at := len(dst)
		dst = s.appendEntry(dst, p, e)
		if s.kind != inventory.Tools || e.item.Facts&(inventory.Executed|inventory.Wrapping) == 0 {
			continue // there is nothing that eras differ in: see revision.Conversion.Item
		}
		if was := dst[at:]; len(was) > 0 {
			if converted := c.Item(was); len(converted) != len(was) || &converted[0] != &was[0] {
				dst = append(dst[:at], converted...)
			}
		}
	}
	return dst
}
