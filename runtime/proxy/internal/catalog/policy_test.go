package catalog

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/require"
)

func compiled(tb testing.TB, text string) *policy.Set {
	tb.Helper()
	groups := map[string][]string{}
	for i := range 50 {
		groups[fmt.Sprint("g", i)] = []string{fmt.Sprint("token|p", i)}
	}
	set, err := policy.Compile(policy.Config{Groups: groups, Sources: []policy.Source{{Name: "test.cedar", Text: []byte(text)}}})
	require.NoError(tb, err)
	return set
}

// anyPolicies returns a few policies about what some offers.
func anyPolicies(r *rand.Rand) string {
	var out strings.Builder
	for i := range 1 + r.IntN(5) {
		effect := []string{"permit", "permit", "forbid"}[r.IntN(3)]
		who := []string{"principal", `principal in Group::"g1"`, `principal in Group::"local"`}[r.IntN(3)]
		server := string(rune('a' + r.IntN(4)))
		what := []string{
			"resource", fmt.Sprintf("resource in Server::%q", server), fmt.Sprintf(`resource == Tool::"%s/n%d"`, server, r.IntN(4)),
			fmt.Sprintf(`resource == Prompt::"%s/n%d"`, server, r.IntN(4)), fmt.Sprintf(`resource == Resource::"%s/s%d://h%d/%d"`, server, r.IntN(2), r.IntN(2), r.IntN(3)),
		}[r.IntN(5)]
		when := []string{"", "", ` when {context.front == "http"}`}[r.IntN(3)]
		fmt.Fprintf(&out, "@id(\"p%d\") %s (%s, action, %s)%s;\n", i, effect, who, what, when)
	}
	return out.String()
}

// TestViews: in random worlds a principal's lists are what each item alone is decided to
// be, under the names of the catalog of all; what is listed is found, and nothing else is.
func TestViews(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	who := []*access.Principal{nil, {ID: "token|p1"}, {ID: "token|p2"}}
	var hidden, shown, conditional int
	for range 150 {
		text := anyPolicies(r)
		set := compiled(t, text)
		p := several(t, Options{NoPrefix: r.IntN(3) == 0, Gate: gate.New(gate.Config{Set: set})}, 4)
		for _, b := range p.set.All() {
			p.Publish(b, some(t, b, r), inventory.ListSet{})
		}
		full := p.Current.Load()
		for _, one := range who {
			its := p.Of(by(one))
			if p.Of(by(one)) != its {
				t.Fatal("another catalog the second time")
			}
			for k := range inventory.Kinds {
				var want, got []string
				for _, s := range full.lists[k].sections {
					for _, e := range s.entries {
						alone := set.Snapshot([]policy.Server{{Name: s.backend.Name}}, []policy.Item{{Kind: kindOf(k), Server: s.backend.Name, Name: e.item.Key, Definition: e.item.Raw}})
						visible, use := alone.View(one).Item(0)
						r := its.Routes[k][e.exposed]
						if visible != (r != nil) {
							t.Fatalf("%s\n%s is visible to %s: %v", text, e.exposed, one.Key(), visible)
						}
						if !visible {
							hidden++
							isHidden(t, p, by(one), k, e.exposed)
							continue
						}
						shown++
						want = append(want, e.exposed)
						if (use == nil) != (r.Rules == nil) {
							t.Fatalf("%s\n%s has conditions for %s: %v", text, e.exposed, one.Key(), use != nil)
						}
						if use != nil {
							conditional++
							for _, first := range []string{"http", "stdio"} {
								a, b := use.Decide(&policy.Request{Principal: one, Transport: first}), r.Rules.Use.Decide(&policy.Request{Principal: one, Transport: first})
								if a.Verdict != b.Verdict {
									t.Fatalf("%s\n%s over %s: %v, want %v", text, e.exposed, first, b.Verdict, a.Verdict)
								}
							}
						}
					}
				}
				for _, s := range its.lists[k].sections {
					for _, e := range s.entries {
						got = append(got, e.exposed)
					}
				}
				if !slices.Equal(got, want) || its.lists[k].count != len(want) {
					t.Fatalf("%s\n%s has %v, want %v", text, one.Key(), got, want)
				}
			}
		}
	}
	if hidden < 250 || shown < 250 || conditional < 50 {
		t.Errorf("the worlds are all alike: %d hidden, %d shown, %d with conditions", hidden, shown, conditional)
	}
}

// isHidden checks that nothing is found by a name.
func isHidden(t *testing.T, p *Publisher, who upstream.Audience, k inventory.Kind, exposed string) {
	t.Helper()
	c := p.Of(who)
	for _, s := range p.Current.Load().lists[k].sections {
		for _, e := range s.entries {
			if e.exposed == exposed && c.unlisted(routeTo(s.backend, e.item.Key, false), k) != nil {
				t.Fatalf("%s is found though it is hidden", exposed)
			}
		}
	}
	if r := c.alias(exposed); r != nil && c.listed(inventory.Tools, r.Backend, r.Bare) != r {
		t.Fatalf("%s leads to what is hidden", exposed)
	}
}

// fifty returns a publisher of 5,000 tools under 50 policies that hide one tenth each of
// them from one of 50 principals, and the principals.
func fifty(tb testing.TB) (*Publisher, []*access.Principal) {
	tb.Helper()
	var text strings.Builder
	var who []*access.Principal
	text.WriteString(`@id("all") permit (principal, action, resource);`)
	for i := range 50 {
		fmt.Fprintf(&text, `@id("p%d") forbid (principal in Group::"g%d", action, resource in Server::"server-%d");`, i, i, i)
		who = append(who, &access.Principal{ID: fmt.Sprint("token|p", i)})
	}
	p := manyTools(tb, 5000)
	p.o.Gate = gate.New(gate.Config{Set: compiled(tb, text.String())})
	p.Repolicy()
	return p, who
}

func TestOfAllocatesNothing(t *testing.T) {
	p, who := fifty(t)
	p.Of(by(who[0]))
	p.Of(by(nil))
	if n := testing.AllocsPerRun(100, func() { p.Of(by(who[0])); p.Of(by(nil)) }); n != 0 {
		t.Errorf("%v allocations to look a catalog up", n)
	}
}

// TestMemoryOfViews: 50 views of 5,000 tools and their pages, in both eras, stay within
// the bound.
func TestMemoryOfViews(t *testing.T) {
	p, who := fifty(t)
	before := heap()
	for _, one := range who {
		for _, modern := range []bool{false, true} {
			l := &p.Of(by(one)).lists[inventory.Tools]
			for from := new(CursorPlace); from != nil; _, from = l.part(*from, DefaultPage) {
				p.page(p.Of(by(one)), inventory.Tools, modern, by(one), *from)
			}
		}
	}
	if mb := (heap() - before) >> 20; mb > 64 {
		t.Errorf("50 views take %d MB", mb)
	} else {
		t.Logf("50 views take %d MB", mb)
	}
	runtime.KeepAlive(p)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkOf(b *testing.B) {
	p, who := fifty(b)
	for name, one := range map[string]*access.Principal{"local": nil, "principal": who[7]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Of(by(one))
			}
		})
	}
}

// BenchmarkFirstList is the first list of a principal, and that of another with the same
// view.
func BenchmarkFirstList(b *testing.B) {
	p, who := fifty(b)
	b.Run("off", func(b *testing.B) {
		off := manyTools(b, 5000)
		for b.Loop() {
			off.Publish(off.set.All()[0], off.Inventory(off.set.All()[0]), inventory.ListSet{})
			off.page(off.Of(by(nil)), inventory.Tools, false, by(nil), CursorPlace{})
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			rebuilt(p)
			b.StartTimer()
			p.page(p.Of(by(who[3])), inventory.Tools, false, by(who[3]), CursorPlace{})
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			other := *who[3]
			other.Name = "other"
			p.page(p.Of(by(&other)), inventory.Tools, false, by(who[3]), CursorPlace{})
		}
	})
}

// again makes the catalog again and no view of it.
func rebuilt(p *Publisher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Current.Store(newCatalog(p))
}

// BenchmarkRepolicy is other policies for 1,000 principals with 50 views of 5,000 tools.
func BenchmarkRepolicy(b *testing.B) {
	p, who := fifty(b)
	for i := range 1000 {
		one := *who[i%len(who)]
		p.Of(by(&one))
	}
	for b.Loop() {
		p.Repolicy()
	}
}
