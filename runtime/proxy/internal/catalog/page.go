package catalog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// DefaultPage is how many items a page has at most.
	DefaultPage = 1000
	// maxPages bounds the pages that are kept, in bytes; others are written for
	// each who asks.
	maxPages = 64 << 20
	// pageLife is how long an answer with a cursor is given out.
	pageLife = TTL / 4
	// partialTTL bounds how long a list may be kept that leaves a server out.
	partialTTL = 5 * time.Second
)

// pages are the answers to list methods of a catalog: each is written once.
type pages struct {
	size *atomic.Int64 // bytes in all, perhaps with those of other catalogs
	most int64         // of them
	mu   sync.Mutex    // guards what follows
	of   map[pageKey]*page
	// searched has another list of tools, nil as long as nobody wants it; see Searched.
	searched, extended *Catalog // extended has all tools, and others after them

	attach sync.Once // see Catalog.Attached
	what   any
}

// pageKey says which list, in the words of which era, beginning where, and whether for
// somebody in particular: no cache may give that to others.
type pageKey struct {
	k       inventory.Kind
	modern  bool
	after   string // see CursorPlace
	shown   string // the same, each with an end
	private bool
}

// page is the answer to a list method.
type page struct {
	mu        sync.Mutex // guards what follows; held while the answer is written, which is memory work
	result    []byte     // nil as long as nobody has asked
	items     rawjson.Span
	next      *CursorPlace // nil for the last page
	made      time.Time
	ttl       time.Duration
	principal string // whose the cursor is
}

// at returns the page of a key.
func (ps *pages) at(key pageKey) *page {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	pg := ps.of[key]
	if pg == nil {
		pg = new(page)
		if ps.size.Load() <= ps.most {
			ps.of[key] = pg
		}
	}
	return pg
}

// List returns the answer to a list method, once every backend has been asked, in
// the words of an era. It is not to be changed: others get the same. Arrange may return the
// catalog with another list of tools, and says whether who asks has decided about it; nil
// leaves the list as it is.
func (p *Publisher) List(ctx context.Context, audience upstream.Audience, k inventory.Kind, params []byte, modern bool, arrange func(*Catalog) (_ *Catalog, private bool)) ([]byte, error) {
	p.Discover(ctx, audience, p.o.ListGrace)
	if err := deadline.Err(ctx); err != nil {
		return nil, err
	}
	p.Listeners.See(k)
	p.announceComing()
	c := p.show(audience, k)
	p.seen.add(audience, c, k)
	if arrange != nil && k == inventory.Tools {
		arranged, private := arrange(c)
		c, audience.Private = arranged, audience.Private || private
	}
	from, given, err := OpenCursor(p.o.Ring, k, audience.Key(), params)
	if err != nil {
		return nil, upstream.Invalid("params.cursor: %v", err)
	}
	if !given {
		p.revalidate(k)
		p.Refresh()
	}
	return p.page(c, k, modern, audience, from), nil
}

// show returns the catalog that a list is given out of. Where names have no
// prefix, those on it stay with their servers from now on.
func (p *Publisher) show(audience upstream.Audience, k inventory.Kind) *Catalog {
	if !p.o.NoPrefix || k != inventory.Tools && k != inventory.Prompts {
		return p.Of(audience)
	}
	p.mu.Lock() // another is not built meanwhile
	defer p.mu.Unlock()
	c := p.Of(audience)
	c.lists[k].shown.Do(func() {
		for _, s := range c.lists[k].sections {
			for _, e := range s.entries {
				if !e.route.Wrapped {
					p.tombstones.Show(s.backend.Name, k, e.route.Bare)
				}
			}
		}
	})
	return c
}

// revalidate asks in the background for lists whose time is over and whose server
// would not say that they have changed.
func (p *Publisher) revalidate(k inventory.Kind) {
	now := time.Now()
	p.mu.Lock()
	var stale []*upstream.Backend
	for b, inv := range p.known() {
		if inv.Modern && inv.Silent[k] && now.After(inv.Fresh[k].Until) {
			stale = append(stale, b)
		}
	}
	p.mu.Unlock()
	for _, b := range stale {
		b.Lists.Changed(inventory.ListSet{})
	}
}

// page returns the answer of an audience to a list method that begins at a place. It is not to
// be changed: others get the same.
func (p *Publisher) page(c *Catalog, k inventory.Kind, modern bool, audience upstream.Audience, from CursorPlace) []byte {
	key, private := audience.Key(), audience.Who != nil || audience.Private
	l, pg := &c.lists[k], c.pages.at(pageKey{k, modern, from.After, strings.Join(from.Shown, "\x00"), private})
	now := time.Now()
	var ttl time.Duration // in milliseconds, as it is sent
	if modern {
		if ttl = max(l.fresh.Until.Sub(now), 0); l.partial != nil {
			ttl = min(ttl, partialTTL)
		}
		ttl = ttl.Truncate(time.Millisecond)
	}
	pg.mu.Lock()
	defer pg.mu.Unlock()
	if pg.result != nil && pg.ttl == ttl && (pg.next == nil || pg.principal == key && now.Sub(pg.made) < pageLife) {
		return pg.result
	}
	out := append(make([]byte, 0, max(len(pg.result)+64, 256)), '{')
	if modern {
		out = append(out, `"resultType":"complete","ttlMs":`...)
		out = strconv.AppendInt(out, ttl.Milliseconds(), 10)
		scope := `,"cacheScope":"private",`
		if l.fresh.Public && !private {
			scope = `,"cacheScope":"public",`
		}
		out = append(out, scope...)
	}
	out = append(append(out, '"'), k.Listing().Member...)
	out = append(out, `":[`...)
	begin := len(out)
	if pg.result != nil {
		out = append(out, pg.items.Of(pg.result)...)
	} else {
		var part []placed
		part, pg.next = l.part(from, p.o.PageSize)
		out = l.appendItems(out, p, k, modern, part, pg.next == nil)
	}
	end := len(out)
	out = append(out, ']')
	if pg.next != nil {
		out = rawjson.Quote(append(out, `,"nextCursor":`...), SealCursor(p.o.Ring, k, key, *pg.next))
	}
	if server := p.o.Info; modern && server != nil {
		out = append(append(out, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...), server...)
		if l.partial != nil {
			out = append(append(out, `,"dev.mcpctl/partial":`...), l.partial...)
		}
		out = append(out, '}')
	} else if l.partial != nil {
		out = append(append(append(out, `,"_meta":{"dev.mcpctl/partial":`...), l.partial...), '}')
	}
	out = append(out, '}')
	if pg.result == nil {
		c.pages.size.Add(int64(len(out)))
	}
	pg.result, pg.items, pg.made, pg.ttl, pg.principal = out, rawjson.Span{Start: begin, End: end}, now, ttl, key
	return out
}

// placed is an entry and the section that it is in.
type placed struct {
	section *Section
	entry   *entry
}

// part returns the entries of the page that begins at a place, and where the next one
// does, nil for the last. A list that is no longer than a page is in the order of its
// servers. In a longer one, what is pinned comes first, and all else is in the order of
// names: so the next page can be told of a list that has changed since.
func (l *list) part(from CursorPlace, size int) ([]placed, *CursorPlace) {
	first := from.After == "" && len(from.Shown) == 0
	if first && (size <= 0 || l.count <= size) {
		all := make([]placed, 0, l.count)
		for _, s := range l.sections {
			for _, e := range s.entries {
				all = append(all, placed{s, e})
			}
		}
		return all, nil
	}
	var part []placed
	next := from
	if first {
		for _, s := range l.sections[:l.pinned] {
			if part = append(part, placed{s, s.entries[0]}); len(part) <= size {
				next.Shown = append(next.Shown, s.entries[0].exposed)
			}
		}
	}
	byName := l.byName()
	at, found := slices.BinarySearchFunc(byName, from.After, func(e placed, name string) int { return strings.Compare(e.entry.exposed, name) })
	if found {
		at++
	}
	for ; at < len(byName) && (size <= 0 || len(part) <= size); at++ { // one more than the page has, to know of the next
		if !slices.Contains(next.Shown, byName[at].entry.exposed) {
			part = append(part, byName[at])
		}
	}
	left := len(part)
	if l.own != nil {
		left++ // what is behind all others counts as one
	}
	if size <= 0 || left <= size {
		return part, nil
	}
	part = part[:min(size, len(part))]
	if last := part[len(part)-1].entry.exposed; !slices.Contains(next.Shown, last) {
		next.After = last
	}
	next.Shown = slices.DeleteFunc(slices.Clone(next.Shown), func(name string) bool { return name <= next.After })
	return part, &next
}

// sorted returns the entries in the order of names.
func (l *list) sorted() []placed {
	all := make([]placed, 0, l.count)
	for _, s := range l.sections {
		for _, e := range s.entries {
			all = append(all, placed{s, e})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return strings.Compare(a.entry.exposed, b.entry.exposed) })
	return all
}

// appendItems appends entries with commas between them, and on the last page what comes
// after all others. The revisions of the handshake era see the same.
func (l *list) appendItems(out []byte, p *Publisher, k inventory.Kind, modern bool, part []placed, last bool) []byte {
	conversion, size := conversionOf(k, modern), 0
	entries := make([]*entry, len(part))
	for i, e := range part {
		entries[i] = e.entry
		size += len(e.entry.shown().Raw) + len(e.entry.exposed) + 64
	}
	out = slices.Grow(out, size) // about: growing a large text step by step costs more than to look
	for from := 0; from < len(part); {
		to := from + 1
		for to < len(part) && part[to].section == part[from].section {
			to++
		}
		if from > 0 {
			out = append(out, ',')
		}
		out = part[from].section.appendEntries(out, p, &conversion, entries[from:to])
		from = to
	}
	if l.own != nil && last {
		if len(part) > 0 {
			out = append(out, ',')
		}
		out = append(out, l.own...)
	}
	return out
}
