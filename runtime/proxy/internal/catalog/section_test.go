package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// several returns a publisher over servers without a connection.
func several(tb testing.TB, o Options, n int) *Publisher {
	tb.Helper()
	names := make([]string, n)
	for i := range n {
		names[i] = string(rune('a' + i))
	}
	return publisherOf(tb, o, names...)
}

// some returns an inventory of a few items of each kind, of few names, titles and
// URIs, so that servers get into each other's way.
func some(tb testing.TB, b *upstream.Backend, r *rand.Rand) *inventory.Inventory {
	tb.Helper()
	cat := &inventory.Inventory{Resources: true, Offered: [inventory.Kinds]bool{true, true, true, true}}
	for k := range inventory.Kinds {
		l := k.Listing()
		var list []string
		for range r.IntN(4) {
			item := fmt.Sprintf(`"name":"n%d","title":"T%d"`, r.IntN(4), r.IntN(4))
			switch k {
			case inventory.Tools:
				if r.IntN(2) == 0 {
					item += fmt.Sprintf(`,"_meta":{"ui":{"resourceUri":"ui://h%d/x"}}`, r.IntN(2))
				}
				if r.IntN(3) == 0 {
					item += `,"outputSchema":{"type":"array"},"execution":{"taskSupport":"optional"}`
				}
			case inventory.Resources:
				item += fmt.Sprintf(`,"uri":"s%d://h%d/%d"`, r.IntN(2), r.IntN(2), r.IntN(3))
			case inventory.Templates:
				item += fmt.Sprintf(`,"uriTemplate":"s%d://h%d/{x}"`, r.IntN(2), r.IntN(2))
			case inventory.Prompts, inventory.Kinds:
				item += `,"icons":[{"src":"http://x/y"},{"src":"https://x/y"}]`
			}
			list = append(list, "{"+item+"}")
		}
		var err error
		if cat.Items[k], err = inventory.Parse(b.Log, []byte(`{"`+l.Member+`":[`+strings.Join(list, ",")+`]}`), l); err != nil {
			tb.Fatal(err)
		}
	}
	return cat
}

// TestSnapshotOfParts: a catalog that is put together of parts of the one
// before is the same as one that is made again, whatever has changed.
func TestSnapshotOfParts(t *testing.T) {
	for _, o := range []Options{{}, {NoPrefix: true}} {
		r := rand.New(rand.NewPCG(1, 2))
		p := several(t, o, 4)
		reused := 0
		for range 500 {
			b := p.set.All()[r.IntN(4)]
			before := p.Current.Load()
			p.Publish(b, some(t, b, r), inventory.ListSet{})
			got := p.Current.Load()
			p.mu.Lock()
			left := map[*offers][inventory.Kinds]*Section{}
			for _, o := range p.offers {
				left[o], o.sections = o.sections, [inventory.Kinds]*Section{}
			}
			want := newCatalog(p)
			for o, sections := range left {
				o.sections = sections
			}
			p.mu.Unlock()
			for k := range inventory.Kinds {
				for _, modern := range []bool{false, true} {
					g, w := string(p.page(got, k, modern, by(nil), CursorPlace{})), string(p.page(want, k, modern, by(nil), CursorPlace{}))
					if g != w {
						t.Fatalf("got  %s\nwant %s", g, w)
					}
				}
				if got.lists[k].version() != want.lists[k].version() || !got.same(want, k) || len(got.Routes[k]) != len(want.Routes[k]) {
					t.Fatalf("%s: another version, or other routes", k.Listing().Member)
				}
				for name, r := range want.Routes[k] {
					if g := got.Routes[k][name]; g == nil || g.Backend != r.Backend || g.Bare != r.Bare || string(g.Quoted) != string(r.Quoted) || g.Wrapped != r.Wrapped || g.Wraps != r.Wraps || g.Support != r.Support {
						t.Fatalf("%s leads to %+v, want %+v", name, g, r)
					}
				}
				texts := string(p.page(before, k, false, by(nil), CursorPlace{})) == string(p.page(got, k, false, by(nil), CursorPlace{}))
				if same := before.same(got, k); same != texts || same != (before.lists[k].version() == got.lists[k].version()) {
					t.Fatalf("the lists are the same: %v; told: %v", texts, same)
				}
				if n := len(got.lists[k].sections); n > 0 && len(before.lists[k].sections) > 0 && got.lists[k].sections[0] == before.lists[k].sections[0] {
					reused++
				}
			}
		}
		if reused == 0 {
			t.Error("nothing was kept of any catalog")
		}
	}
}

// TestPageIsWrittenOnce: whoever asks again gets the same bytes, until a cursor
// in it grows old or a server's promise runs out.
func TestPageIsWrittenOnce(t *testing.T) {
	p := manyTools(t, 5000)
	s := p.Current.Load()
	for _, modern := range []bool{false, true} {
		l := &s.lists[inventory.Tools]
		for from := new(CursorPlace); from != nil; _, from = l.part(*from, DefaultPage) {
			one := p.page(s, inventory.Tools, modern, by(nil), *from)
			if two := p.page(s, inventory.Tools, modern, by(nil), *from); &one[0] != &two[0] {
				t.Errorf("modern %v, from %v: written twice", modern, from)
			}
			if allocs := testing.AllocsPerRun(10, func() { p.page(s, inventory.Tools, modern, by(nil), *from) }); allocs > 1 {
				t.Errorf("modern %v, from %v: %v allocations for what is there", modern, from, allocs)
			}
		}
	}
	pg := s.pages.at(pageKey{k: inventory.Tools})
	old := pg.result
	pg.made = pg.made.Add(-pageLife)
	renewed := p.page(s, inventory.Tools, false, by(nil), CursorPlace{})
	if &renewed[0] == &old[0] {
		t.Error("the cursor was not renewed")
	}
	if cut := func(page []byte) string { text, _, _ := strings.Cut(string(page), `,"nextCursor"`); return text }; cut(renewed) != cut(old) {
		t.Error("renewing the cursor has changed the items")
	}
	s.lists[inventory.Tools].fresh.Until = time.Now().Add(time.Hour)
	if got := string(p.page(s, inventory.Tools, true, by(nil), CursorPlace{})); !strings.Contains(got[:80], `"ttlMs":3599`) {
		t.Errorf("got %s", got[:80])
	}
}

// TestAnnouncedBeforeListed: a client that waits for a server's list is not told that the list
// it gets has changed.
func TestAnnouncedBeforeListed(t *testing.T) {
	p := several(t, Options{}, 1)
	b := p.set.All()[0]
	asked := false
	who := func() upstream.Audience {
		if asked = true; b.IsListed.Load() {
			t.Error("the server is listed, and its lists are still to be announced")
		}
		return by(nil)
	}
	b.IsListed.Store(false)
	defer p.Listeners.Add(make(told, 1), who, inventory.ListSet{Tools: true})()
	p.Publish(b, &inventory.Inventory{Items: items(t, inventory.Tools, `[{"name":"t"}]`)}, inventory.ListSet{})
	if !asked || !b.IsListed.Load() {
		t.Errorf("announced: %v, listed: %v", asked, b.IsListed.Load())
	}
}

// TestManyPublishAtOnce: what comes up while a catalog is built shares the next
// one, and nothing is lost.
func TestManyPublishAtOnce(t *testing.T) {
	p := several(t, Options{}, 20)
	cats := make([]*inventory.Inventory, 20)
	for i := range p.set.All() {
		cats[i] = &inventory.Inventory{}
		cats[i].Items = items(t, inventory.Tools, `[{"name":"t"}]`)
	}
	said := make(told, 100)
	defer p.Listeners.Add(said, func() upstream.Audience { return by(nil) }, inventory.ListSet{Tools: true})()
	p.Listeners.See(inventory.Tools)
	p.mu.Lock() // as while a catalog is built
	var wg sync.WaitGroup
	snaps := make([]*Catalog, len(cats))
	for i, b := range p.set.All() {
		wg.Go(func() {
			p.Publish(b, cats[i], inventory.ListSet{})
			snaps[i] = p.Current.Load()
		})
	}
	for { // all have come
		p.updates.mu.Lock()
		n := len(p.updates.waiting)
		p.updates.mu.Unlock()
		if n == 20 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	before := p.Current.Load()
	p.mu.Unlock()
	wg.Wait()
	if got := p.Current.Load(); got == before || got.lists[inventory.Tools].count != 20 {
		t.Errorf("got %d tools", got.lists[inventory.Tools].count)
	}
	if snaps = slices.Compact(snaps); len(snaps) != 1 {
		t.Errorf("%d catalogs or more were built, want one for all", len(snaps))
	}
	if len(said) != 1 {
		t.Errorf("clients were told %d times, want once for all", len(said))
	}
}

// told is a listener that remembers what it was told.
type told chan string

func (c told) Notify(method string, _ []byte) { c <- method }

// BenchmarkBurst is 50 servers that connect at once.
func BenchmarkBurst(b *testing.B) {
	for _, n := range []int{5000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			from := manyTools(b, n)
			for b.Loop() {
				p := several(b, Options{}, 50)
				var wg sync.WaitGroup
				for i, to := range p.set.All() {
					wg.Go(func() {
						p.Publish(to, from.Inventory(from.set.All()[i]), inventory.ListSet{})
					})
				}
				wg.Wait()
			}
		})
	}
}
