package catalog

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/require"
)

// toolPage returns a result of tools/list with tools of about 500 bytes.
func toolPage(server, tools int) []byte {
	var text strings.Builder
	text.WriteString(`{"tools":[`)
	for i := range tools {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"name":"tool_%d_of_server_%d","title":"Tool %d of %d","description":"%s","inputSchema":{"type":"object",`+
			`"properties":{"path":{"type":"string","description":"Where to look"},"limit":{"type":"integer","minimum":1,"maximum":1000},`+
			`"recursive":{"type":"boolean","default":false}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
			i, server, i, server, strings.Repeat("Finds what is asked for. ", 6))
	}
	text.WriteString(`]}`)
	return []byte(text.String())
}

// manyTools returns a publisher with that many tools in all, of 50 servers.
func manyTools(tb testing.TB, all int) *Publisher {
	tb.Helper()
	const servers = 50
	names := make([]string, servers)
	for i := range names {
		names[i] = fmt.Sprintf("server-%d", i)
	}
	p := publisherOf(tb, Options{}, names...)
	for i, b := range p.set.All() {
		cat := &inventory.Inventory{}
		cat.Offered[inventory.Tools] = true
		var err error
		if cat.Items[inventory.Tools], err = inventory.Parse(b.Log, toolPage(i, all/servers), inventory.Tools.Listing()); err != nil {
			tb.Fatal(err)
		}
		p.Publish(b, cat, inventory.ListSet{})
	}
	return p
}

func BenchmarkParse(b *testing.B) {
	p := manyTools(b, 100)
	page := toolPage(1, 100)
	for b.Loop() {
		_, _ = inventory.Parse(p.set.All()[0].Log, page, inventory.Tools.Listing())
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := manyTools(b, n)
			b.ReportAllocs()
			for b.Loop() {
				p.Publish(p.set.All()[0], p.Inventory(p.set.All()[0]), inventory.ListSet{})
			}
		})
	}
}

func BenchmarkVariant(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := manyTools(b, n)
			b.ReportAllocs()
			for b.Loop() {
				p.Publish(p.set.All()[0], p.Inventory(p.set.All()[0]), inventory.ListSet{})
				p.page(p.Current.Load(), inventory.Tools, false, by(nil), CursorPlace{})
			}
		})
	}
}

// BenchmarkStart is from nothing to the first answer to tools/list, with 50
// servers of 100 tools in a database.
func BenchmarkStart(b *testing.B) {
	path := filepath.Join(b.TempDir(), "mcpctl.db")
	var servers []upstream.Settings
	for i := range 50 {
		servers = append(servers, upstream.Settings{Name: fmt.Sprintf("server-%d", i), Digest: fmt.Sprint(i)})
	}
	from := manyTools(b, 5000)
	db := store.Open(path, store.Options{})
	for i, bk := range from.set.All() {
		c := store.Change{
			ID:      store.ID{Name: bk.Name, Digest: fmt.Sprint(i)},
			Catalog: &store.Catalog{Data: from.Inventory(bk).Encode(inventory.Head{}), Verified: time.Now()},
		}
		require.NoError(b, db.Keep(b.Context(), []store.Change{c}))
	}
	require.NoError(b, db.Close())
	b.ReportAllocs()
	for b.Loop() {
		db := store.Open(path, store.Options{})
		p, closes := stored(Options{}, db, servers)
		if s := p.Current.Load(); s.lists[inventory.Tools].count != 5000 || len(p.page(s, inventory.Tools, false, by(nil), CursorPlace{})) < 1<<18 {
			b.Fatal(s.lists[inventory.Tools].count)
		}
		closes()
		_ = db.Close()
	}
}
