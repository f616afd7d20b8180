package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Section is what one backend adds to one list. It is immutable, and stands in
// every snapshot until what the backend offers changes, or what others offer
// has this appear otherwise. It holds no text of its own but the names: the list
// is written from it when a client asks.
type Section struct {
	b   *upstream.Backend
	k   inventory.Kind
	cat *inventory.Inventory
	// keys are what clients call each item of the catalogue, by the names'
	// unclear.
	keys    []string
	unclear bool
	entries []entry
	routes  []Route // of the entries

	once sync.Once
	sum  [sha256.Size]byte // see digest
}

// entry is one item as clients see it.
type entry struct {
	item    *inventory.Item
	exposed string
	// titled tells that another backend lists the same title.
	titled bool
	// uris expose what leads to a tool's user interface.
	uris []rawjson.Edit
}

// sectionOf gives a backend's part of a list, the one before where it is the same.
// The caller holds publisher.mu.
func (s *Catalog) sectionOf(p *Publisher, k inventory.Kind, b *upstream.Backend, titles map[string]titled) *Section {
	has := p.of(b)
	before := has.sections[k]
	if before != nil && before.cat != has.inventory {
		before = nil
	}
	keys, unclear := s.exposedKeys(p, k, b, before), s.names.unclear[b.Name]
	if before != nil && slices.Equal(before.keys, keys) && before.fits(s, p, titles) {
		return before
	}
	items := has.inventory.Items[k]
	sh := &Section{b: b, k: k, cat: has.inventory, keys: keys, unclear: unclear}
	sh.entries, sh.routes = make([]entry, 0, len(items)), make([]Route, 0, len(items))
	seen := make(map[string]bool, len(items))
	for i := range items {
		it, exposed := &items[i], keys[i]
		if seen[exposed] {
			b.Log.Warn("backend lists one name twice; the first counts", "name", it.Key)
			continue
		}
		seen[exposed] = true
		sh.entries = append(sh.entries, entry{it, exposed, titles[it.Title].n > 1, s.exposedUI(p, b, k, it)})
		sh.routes = append(sh.routes, Route{
			Backend: b, Bare: it.Key, Quoted: it.KeyAt.Of(it.Raw), Wrapped: exposed != it.Key, Definition: it.Raw,
			Mirrors: it.Mirrors, Support: it.Support, Wraps: it.Facts&inventory.Wrapping != 0,
		})
	}
	has.sections[k] = sh
	return sh
}

// fits tells whether the entries are as they would be now.
func (sh *Section) fits(s *Catalog, p *Publisher, titles map[string]titled) bool {
	for i := range sh.entries {
		e := &sh.entries[i]
		if e.titled != (titles[e.item.Title].n > 1) || e.item.Facts&inventory.Pictured != 0 && !equalEdits(e.uris, s.exposedUI(p, sh.b, sh.k, e.item)) {
			return false
		}
	}
	return true
}

// without gives a shelf that lacks some entries, which others have the names of.
func (sh *Section) without(gone map[int]bool) *Section {
	out := &Section{b: sh.b, k: sh.k, cat: sh.cat, keys: sh.keys, unclear: sh.unclear}
	for i := range sh.entries {
		if !gone[i] {
			out.entries, out.routes = append(out.entries, sh.entries[i]), append(out.routes, sh.routes[i])
		}
	}
	return out
}

// same tells whether two shelves have the same text.
func (sh *Section) same(o *Section) bool {
	return sh == o || sh.b.Name == o.b.Name && slices.EqualFunc(sh.entries, o.entries, func(a, b entry) bool {
		return a.exposed == b.exposed && a.titled == b.titled && bytes.Equal(a.item.Raw, b.item.Raw) && equalEdits(a.uris, b.uris)
	})
}

func equalEdits(a, b []rawjson.Edit) bool {
	return slices.EqualFunc(a, b, func(x, y rawjson.Edit) bool { return x.Span == y.Span && bytes.Equal(x.New, y.New) })
}

// digest stands for the text: it is the same in every process.
func (sh *Section) digest() [sha256.Size]byte {
	sh.once.Do(func() {
		about := append([]byte(sh.b.Name), 0)
		for i := range sh.entries {
			e := &sh.entries[i]
			about = append(append(about, e.exposed...), 0)
			about = binary.AppendUvarint(about, uint64(len(e.item.Raw)))
			about = binary.BigEndian.AppendUint32(about, crc32.Checksum(e.item.Raw, inventory.Castagnoli))
			if e.titled {
				about = append(about, 1)
			}
			for _, edit := range e.uris {
				about = append(append(about, 2), edit.New...)
			}
		}
		sh.sum = sha256.Sum256(about)
	})
	return sh.sum
}

// exposedUI gives the edits that expose the URIs of a tool's user interface.
func (s *Catalog) exposedUI(p *Publisher, b *upstream.Backend, k inventory.Kind, it *inventory.Item) []rawjson.Edit {
	if k != inventory.Tools || s.single || it.Facts&inventory.Pictured == 0 {
		return nil
	}
	e := exposing{p: p, s: s, b: b, text: it.Raw}
	if at, err := rawjson.Field(it.Raw, "_meta"); err == nil && at.Present() {
		e.meta(at)
	}
	return e.edits
}

// appendItem appends an entry's item with its name, title and URIs as exposed,
// and without icons that a client should not fetch.
func (sh *Section) appendItem(dst []byte, p *Publisher, i int) []byte {
	e, b := &sh.entries[i], sh.b
	it := e.item
	var room [4]rawjson.Edit
	edits := append(room[:0], e.uris...)
	if e.exposed != it.Key {
		edits = append(edits, rawjson.Edit{Span: it.KeyAt, New: rawjson.Quote(nil, e.exposed)})
	}
	if (sh.k == inventory.Resources || sh.k == inventory.Templates) && it.NameAt.Present() && !p.o.NoPrefix {
		edits = append(edits, rawjson.Edit{Span: it.NameAt, New: rawjson.Quote(nil, b.Name+p.o.Separator+it.Name)})
	}
	if e.titled {
		edits = append(edits, rawjson.Edit{Span: it.TitleAt, New: rawjson.Quote(nil, it.Title+" ("+b.Name+")")})
	}
	if sh.k != inventory.Tools || it.Facts&inventory.Iconic != 0 {
		edits = append(edits, unsafeIcons(it.Raw)...)
	}
	if len(edits) > 1 {
		slices.SortFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	}
	return rawjson.Splice(dst, it.Raw, edits...)
}

// appendEntries appends the entries from one to before another, with commas
// between them, in the words of an era.
func (sh *Section) appendEntries(dst []byte, p *Publisher, c *revision.Conversion, from, to int) []byte {
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		at := len(dst)
		dst = sh.appendItem(dst, p, i)
		if sh.k != inventory.Tools || sh.entries[i].item.Facts&(inventory.Executed|inventory.Wrapping) == 0 {
			continue // there is nothing that eras differ in: see revision.Conversion.Item
		}
		if was := dst[at:]; len(was) > 0 {
			if is := c.Item(was); len(is) != len(was) || &is[0] != &was[0] {
				dst = append(dst[:at], is...)
			}
		}
	}
	return dst
}
