package catalog

import (
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// pages are the answers to list methods that a snapshot has given, so that each
// is written once. The zero value is ready.
type pages struct {
	mu   sync.Mutex // guards what follows
	of   map[pageKey]*page
	size int // bytes in all
}

// pageKey is a page's: of which list, in the words of which era, beginning at
// which item.
type pageKey struct {
	k      inventory.Kind
	modern bool
	first  int
}

// page is the answer to a list method.
type page struct {
	mu     sync.Mutex // guards what follows; held while the answer is written, which is memory work
	result []byte     // nil as long as nobody has asked
	items  rawjson.Span
	made   time.Time
	ttl    time.Duration
}

const (
	// maxPages bounds the pages that are kept, in bytes; others are written for
	// each who asks.
	maxPages = 64 << 20
	// pageLife is how long an answer with a cursor is given out, which is good for
	// a while only.
	pageLife = cursorTTL / 4
)

// at gives the page at a place.
func (ps *pages) at(at pageKey) *page {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	pg := ps.of[at]
	if pg != nil {
		return pg
	}
	pg = new(page)
	if ps.size > maxPages {
		return pg
	}
	if ps.of == nil {
		ps.of = map[pageKey]*page{}
	}
	ps.of[at] = pg
	return pg
}

// grown notes that a page has been written.
func (ps *pages) grown(bytes int) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.size += bytes
}

// partialTTL bounds how long a list may be kept that leaves a server out.
const partialTTL = 5 * time.Second

// page gives the answer to a list method that begins at an item. It is not to be
// changed: others get the same.
func (p *Publisher) page(s *Catalog, k inventory.Kind, modern bool, first int) []byte {
	pg := s.pages.at(pageKey{k, modern, first})
	now := time.Now()
	var ttl time.Duration // in milliseconds, as it is told
	if modern {
		ttl = s.remaining(k, now).Truncate(time.Millisecond)
	}
	last := s.count[k]
	if p.o.PageSize > 0 {
		last = min(last, first+p.o.PageSize)
	}
	more := last < s.count[k]
	pg.mu.Lock()
	defer pg.mu.Unlock()
	if pg.result != nil && pg.ttl == ttl && (!more || now.Sub(pg.made) < pageLife) {
		return pg.result
	}
	items := pg.items.Of(pg.result)
	out := make([]byte, 0, max(len(pg.result)+64, 256))
	out = append(out, '{')
	if modern {
		out = append(out, `"resultType":"complete","ttlMs":`...)
		out = strconv.AppendInt(out, ttl.Milliseconds(), 10)
		scope := `,"cacheScope":"private",`
		if s.fresh[k].Public {
			scope = `,"cacheScope":"public",`
		}
		out = append(out, scope...)
	}
	out = append(append(out, '"'), k.Listing().Member...)
	out = append(out, `":[`...)
	begin := len(out)
	if pg.result != nil {
		out = append(out, items...)
	} else {
		out = s.appendItems(out, p, k, modern, first, last)
	}
	end := len(out)
	out = append(out, ']')
	if more {
		out = rawjson.Quote(append(out, `,"nextCursor":`...), p.next(s, k, last))
	}
	if server := p.o.Info; modern && server != nil {
		out = append(append(out, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...), server...)
		if s.partial[k] != nil {
			out = append(append(out, `,"dev.mcpctl/partial":`...), s.partial[k]...)
		}
		out = append(out, '}')
	} else if s.partial[k] != nil {
		out = append(append(append(out, `,"_meta":{"dev.mcpctl/partial":`...), s.partial[k]...), '}')
	}
	out = append(out, '}')
	if pg.result == nil {
		s.pages.grown(len(out))
	}
	pg.result, pg.items, pg.made, pg.ttl = out, rawjson.Span{Start: begin, End: end}, now, ttl
	return out
}

// appendItems appends the items of a list from one to before another, with
// commas between them. The revisions of the handshake era see the same.
func (s *Catalog) appendItems(out []byte, p *Publisher, k inventory.Kind, modern bool, from, to int) []byte {
	c := revision.Conversion{To: revision.Latest, Method: k.Listing().Method}
	if modern {
		c.To = revision.Modern
	}
	parts := s.between(k, from, to)
	size := 0
	for _, part := range parts {
		size += part.size()
	}
	out = slices.Grow(out, size)
	for i, part := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = part.sh.appendEntries(out, p, &c, part.from, part.to)
	}
	return out
}

// run is some of a shelf's entries, at least one.
type run struct {
	sh       *Section
	from, to int
}

// size is about how large their text is: growing a large text step by step costs
// more than to look.
func (t run) size() (n int) {
	for _, e := range t.sh.entries[t.from:t.to] {
		n += len(e.item.Raw) + len(e.exposed) + 64
	}
	return n
}

// between gives the entries of a list from one to before another.
func (s *Catalog) between(k inventory.Kind, from, to int) (parts []run) {
	begin := 0
	for _, sh := range s.sections[k] {
		if first, last := max(from-begin, 0), min(to-begin, len(sh.entries)); first < last {
			parts = append(parts, run{sh, first, last})
		}
		begin += len(sh.entries)
	}
	return parts
}

// remaining is for how much longer a list may be kept.
func (s *Catalog) remaining(k inventory.Kind, now time.Time) time.Duration {
	ttl := max(s.fresh[k].Until.Sub(now), 0)
	if s.partial[k] != nil {
		ttl = min(ttl, partialTTL)
	}
	return ttl
}

// Unlisted tells why a backend's list could not be had, nil where it could.
func (p *Publisher) Unlisted(b *upstream.Backend, k inventory.Kind) error {
	if has := p.InventoryNow(b); has != nil {
		return has.Failed[k]
	}
	return nil
}

// List returns the answer to a list method, once every backend has been asked, in
// the words of an era. It is not to be changed: others get the same.
func (p *Publisher) List(ctx context.Context, k inventory.Kind, params []byte, modern bool) ([]byte, error) {
	p.Discover(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.SeenLists[k].Store(true)
	s := p.show(k)
	first, err := p.begins(s, k, params)
	if err != nil {
		return nil, err
	}
	if first == 0 {
		p.revalidate(k)
		p.refresh()
	}
	return p.page(s, k, modern, first), nil
}

// show returns the snapshot that a list is given out of. Where names have no
// prefix, those on it stay with their servers from now on.
func (p *Publisher) show(k inventory.Kind) *Catalog {
	s := p.Current.Load()
	if !p.o.NoPrefix || k != inventory.Tools && k != inventory.Prompts {
		return s
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	s = p.Current.Load() // another is not built meanwhile
	s.shown[k].Do(func() {
		for _, sh := range s.sections[k] {
			for i := range sh.routes {
				if !sh.routes[i].Wrapped {
					p.past.shown.add(sh.b.Name, k, sh.routes[i].Bare)
				}
			}
		}
	})
	return s
}

// revalidate sees to it that lists are asked for again whose time is over and
// whose server would not say that they have changed. The answer under way does
// not wait for that; clients are told if there is anything new.
func (p *Publisher) revalidate(k inventory.Kind) {
	now := time.Now()
	p.Mu.Lock()
	var stale []*upstream.Backend
	for _, b := range p.set.All() {
		if c := p.InventoryOf(b); c != nil && c.Modern && c.Silent[k] && now.After(c.Fresh[k].Until) {
			stale = append(stale, b)
		}
	}
	p.Mu.Unlock()
	for _, b := range stale {
		b.Changed(inventory.ListSet{})
	}
}
