package proxy

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// offering returns a publisher whose servers offer one list each, nothing connected.
func offering(t *testing.T, k kind, o catalogOptions, servers []string, cats map[string]*Inventory) *Publisher {
	t.Helper()
	p := publisherOf(t, o, servers...)
	for _, b := range p.set.all() {
		if cat := cats[b.name]; cat != nil {
			cat.offered[k] = true
			p.publish(b, cat, changeKinds{})
		}
	}
	return p
}

func items(t *testing.T, k kind, list string) (out [kinds][]item) {
	t.Helper()
	all, err := parse(slog.New(slog.DiscardHandler), []byte(`{"`+k.listing().member+`":`+list+`}`), k.listing())
	if err != nil {
		t.Fatal(err)
	}
	out[k] = all
	return out
}

func TestListForModernClients(t *testing.T) {
	at := func(d time.Duration, public bool) (f [kinds]freshness) {
		f[tools] = freshness{time.Now().Add(d), public}
		return f
	}
	tool := items(t, tools, `[{"name":"t","execution":{"taskSupport":"required"},"outputSchema":{"type":"array"},"x":1.0}]`)
	const list = `"tools":[{"name":"a__t","outputSchema":{"type":"array"},"x":1.0}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}`
	for name, c := range map[string]struct {
		a, b *Inventory
		want string
	}{
		"public and fresh":      {&Inventory{items: tool, fresh: at(time.Hour+999*time.Millisecond, true)}, nil, `{"resultType":"complete","ttlMs":3600`},
		"one that is not":       {&Inventory{items: tool, fresh: at(time.Hour, true)}, &Inventory{fresh: at(time.Hour, false)}, `"cacheScope":"private",` + list + `}}`},
		"the least":             {&Inventory{items: tool, fresh: at(time.Hour, true)}, &Inventory{fresh: at(-time.Hour, true)}, `{"resultType":"complete","ttlMs":0,"cacheScope":"public",` + list + `}}`},
		"one that says nothing": {&Inventory{items: tool, fresh: at(time.Hour, true)}, &Inventory{}, `{"resultType":"complete","ttlMs":0,"cacheScope":"private",` + list + `}}`},
		"one left out": {
			&Inventory{items: tool, fresh: at(time.Hour, true)}, &Inventory{fresh: at(time.Hour, true), failed: [kinds]error{tools: runtime.ErrClosed}},
			`{"resultType":"complete","ttlMs":5000,"cacheScope":"public",` + list + `,"dev.mcpctl/partial":[{"server":"b","kind":"connect"}]}}`,
		},
	} {
		p := offering(t, tools, catalogOptions{}, []string{"a", "b"}, map[string]*Inventory{"a": c.a, "b": c.b})
		s := p.current.Load()
		if got := string(p.page(s, tools, true, 0)); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	now := time.Now()
	for page, want := range map[string]freshness{
		`{"ttlMs":1500,"cacheScope":"public"}`:   {now.Add(1500 * time.Millisecond), true},
		`{"ttlMs":1500,"cacheScope":"private"}`:  {now.Add(1500 * time.Millisecond), false},
		`{"ttlMs":-1,"cacheScope":""}`:           {now, false},
		`{"ttlMs":"1500"}`:                       {now, false},
		`{}`:                                     {now, false},
		`{"ttlMs":99999999999,"cacheScope":"x"}`: {now.Add(24 * time.Hour), false},
		`[]`:                                     {},
	} {
		if got := hints([]byte(page), now); got != want {
			t.Errorf("%s: got %v", page, got)
		}
	}
	if got := merged([]freshness{{now, true}, {now.Add(-1), false}, {now.Add(1), true}}); got != (freshness{now.Add(-1), false}) {
		t.Errorf("got %v", got)
	}
}
