package catalog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/deadline"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/cursor"
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
	pageLife = cursor.TTL / 4
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

	beside sync.Once // see Beside
	what   any
}

// pageKey says which list, in the words of which era, beginning at which item, and
// whether for somebody in particular: no cache may give that to others.
type pageKey struct {
	k       inventory.Kind
	modern  bool
	first   int
	private bool
}

// page is the answer to a list method.
type page struct {
	mu     sync.Mutex // guards what follows; held while the answer is written, which is memory work
	result []byte     // nil as long as nobody has asked
	items  rawjson.Span
	made   time.Time
	ttl    time.Duration
	who    string // whose the cursor is
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
func (p *Publisher) List(ctx context.Context, who upstream.Audience, k inventory.Kind, params []byte, modern bool, arrange func(*Catalog) (_ *Catalog, private bool)) ([]byte, error) {
	p.Discover(ctx, who, p.o.ListGrace)
	if err := deadline.Err(ctx); err != nil {
		return nil, err
	}
	p.Listeners.See(k)
	announceComing(p)
	c := show(p, who, k)
	p.seen.note(who, c, k)
	if arrange != nil && k == inventory.Tools {
		arranged, private := arrange(c)
		c, who.Private = arranged, who.Private || private
	}
	first, err := firstItem(p, c, k, who, params)
	if err != nil {
		return nil, err
	}
	if first == 0 {
		p.revalidate(k)
		p.Refresh()
	}
	return p.page(c, k, modern, who, first), nil
}

// show returns the catalog that a list is given out of. Where names have no
// prefix, those on it stay with their servers from now on.
func show(p *Publisher, who upstream.Audience, k inventory.Kind) *Catalog {
	if !p.o.NoPrefix || k != inventory.Tools && k != inventory.Prompts {
		return p.Of(who)
	}
	p.mu.Lock() // another is not built meanwhile
	defer p.mu.Unlock()
	c := p.Of(who)
	c.lists[k].shown.Do(func() {
		for _, s := range c.lists[k].sections {
			for _, e := range s.entries {
				if !e.route.Wrapped {
					p.past.Show(s.backend.Name, k, e.route.Bare)
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
	for b, has := range p.known() {
		if has.Modern && has.Silent[k] && now.After(has.Fresh[k].Until) {
			stale = append(stale, b)
		}
	}
	p.mu.Unlock()
	for _, b := range stale {
		b.Lists.Changed(inventory.ListSet{})
	}
}

// page returns the answer of an audience to a list method that begins at an item. It is not to be
// changed: others get the same.
func (p *Publisher) page(c *Catalog, k inventory.Kind, modern bool, who upstream.Audience, first int) []byte {
	key, private := who.Key(), who.Who != nil || who.Private
	l, pg := &c.lists[k], c.pages.at(pageKey{k, modern, first, private})
	now := time.Now()
	var ttl time.Duration // in milliseconds, as it is sent
	if modern {
		if ttl = max(l.fresh.Until.Sub(now), 0); l.partial != nil {
			ttl = min(ttl, partialTTL)
		}
		ttl = ttl.Truncate(time.Millisecond)
	}
	last := l.count
	if p.o.PageSize > 0 {
		last = min(last, first+p.o.PageSize)
	}
	more := last < l.count
	pg.mu.Lock()
	defer pg.mu.Unlock()
	if pg.result != nil && pg.ttl == ttl && (!more || pg.who == key && now.Sub(pg.made) < pageLife) {
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
		out = l.appendItems(out, p, k, modern, first, last)
	}
	end := len(out)
	out = append(out, ']')
	if more {
		out = rawjson.Quote(append(out, `,"nextCursor":`...), cursor.Seal(p.o.Ring, k, key, cursor.Place{Version: l.version(), Next: last}))
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
	pg.result, pg.items, pg.made, pg.ttl, pg.who = out, rawjson.Span{Start: begin, End: end}, now, ttl, key
	return out
}

// appendItems appends the items from one to before another, with commas between
// them. The revisions of the handshake era see the same.
func (l *list) appendItems(out []byte, p *Publisher, k inventory.Kind, modern bool, from, to int) []byte {
	conversion := conversionOf(k, modern)
	parts := make([][]*entry, len(l.sections)) // of each section
	begin, size := 0, 0
	for i, s := range l.sections {
		if first, last := max(from-begin, 0), min(to-begin, len(s.entries)); first < last {
			parts[i] = s.entries[first:last]
		}
		begin += len(s.entries)
		for _, e := range parts[i] {
			size += len(e.shown().Raw) + len(e.exposed) + 64
		}
	}
	out = slices.Grow(out, size) // about: growing a large text step by step costs more than to look
	start := len(out)
	comma := func() {
		if len(out) > start {
			out = append(out, ',')
		}
	}
	for i, part := range parts {
		if len(part) == 0 {
			continue
		}
		comma()
		out = l.sections[i].appendEntries(out, p, &conversion, part)
	}
	if l.own != nil && to == l.count {
		comma()
		out = append(out, l.own...)
	}
	return out
}

// firstItem returns where the page begins that an audience asks for.
func firstItem(p *Publisher, c *Catalog, k inventory.Kind, who upstream.Audience, params []byte) (int, error) {
	at, given, err := cursor.Open(p.o.Ring, k, who.Key(), params)
	if l := &c.lists[k]; given && err == nil && (at.Version != l.version() || at.Next <= 0 || at.Next >= l.count) {
		err = errors.New("the list has changed since: begin again")
	}
	if err != nil {
		return 0, upstream.Invalid("params.cursor: %v", err)
	}
	return at.Next, nil
}
