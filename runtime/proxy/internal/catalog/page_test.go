package catalog

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/test/require"
)

// offering returns a publisher whose servers offer one list each, nothing connected.
func offering(t *testing.T, k inventory.Kind, o Options, servers []string, cats map[string]*inventory.Inventory) *Publisher {
	t.Helper()
	p := publisherOf(t, o, servers...)
	for _, b := range p.set.All() {
		if cat := cats[b.Name]; cat != nil {
			cat.Offered[k] = true
			p.Publish(b, cat, inventory.ListSet{})
		}
	}
	return p
}

func items(t *testing.T, k inventory.Kind, list string) (out [inventory.Kinds][]inventory.Item) {
	t.Helper()
	all, err := inventory.Parse(slog.New(slog.DiscardHandler), []byte(`{"`+k.Listing().Member+`":`+list+`}`), k.Listing())
	require.NoError(t, err)
	out[k] = all
	return out
}

func TestListForModernClients(t *testing.T) {
	at := func(d time.Duration, public bool) (f [inventory.Kinds]inventory.Freshness) {
		f[inventory.Tools] = inventory.Freshness{Until: time.Now().Add(d), Public: public}
		return f
	}
	tool := items(t, inventory.Tools, `[{"name":"t","execution":{"taskSupport":"required"},"outputSchema":{"type":"array"},"x":1.0}]`)
	const list = `"tools":[{"name":"a__t","outputSchema":{"type":"array"},"x":1.0}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}`
	for name, c := range map[string]struct {
		a, b *inventory.Inventory
		want string
	}{
		"public and fresh":      {&inventory.Inventory{Items: tool, Fresh: at(time.Hour+999*time.Millisecond, true)}, nil, `{"resultType":"complete","ttlMs":3600`},
		"one that is not":       {&inventory.Inventory{Items: tool, Fresh: at(time.Hour, true)}, &inventory.Inventory{Fresh: at(time.Hour, false)}, `"cacheScope":"private",` + list + `}}`},
		"the least":             {&inventory.Inventory{Items: tool, Fresh: at(time.Hour, true)}, &inventory.Inventory{Fresh: at(-time.Hour, true)}, `{"resultType":"complete","ttlMs":0,"cacheScope":"public",` + list + `}}`},
		"one that says nothing": {&inventory.Inventory{Items: tool, Fresh: at(time.Hour, true)}, &inventory.Inventory{}, `{"resultType":"complete","ttlMs":0,"cacheScope":"private",` + list + `}}`},
		"one left out": {
			&inventory.Inventory{Items: tool, Fresh: at(time.Hour, true)}, &inventory.Inventory{Fresh: at(time.Hour, true), Failed: [inventory.Kinds]error{inventory.Tools: runtime.ErrClosed}},
			`{"resultType":"complete","ttlMs":5000,"cacheScope":"public",` + list + `,"dev.mcpctl/partial":[{"server":"b","kind":"connect"}]}}`,
		},
	} {
		p := offering(t, inventory.Tools, Options{}, []string{"a", "b"}, map[string]*inventory.Inventory{"a": c.a, "b": c.b})
		s := p.Current.Load()
		if got := string(p.page(s, inventory.Tools, true, by(nil), CursorPlace{})); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	now := time.Now()
	for page, want := range map[string]inventory.Freshness{
		`{"ttlMs":1500,"cacheScope":"public"}`:   {Until: now.Add(1500 * time.Millisecond), Public: true},
		`{"ttlMs":1500,"cacheScope":"private"}`:  {Until: now.Add(1500 * time.Millisecond), Public: false},
		`{"ttlMs":-1,"cacheScope":""}`:           {Until: now, Public: false},
		`{"ttlMs":"1500"}`:                       {Until: now, Public: false},
		`{}`:                                     {Until: now, Public: false},
		`{"ttlMs":99999999999,"cacheScope":"x"}`: {Until: now.Add(24 * time.Hour), Public: false},
		`[]`:                                     {},
	} {
		if got := inventory.Hints([]byte(page), now); got != want {
			t.Errorf("%s: got %v", page, got)
		}
	}
	if got := inventory.Merged([]inventory.Freshness{{Until: now, Public: true}, {Until: now.Add(-1), Public: false}, {Until: now.Add(1), Public: true}}); got != (inventory.Freshness{Until: now.Add(-1), Public: false}) {
		t.Errorf("got %v", got)
	}
}
