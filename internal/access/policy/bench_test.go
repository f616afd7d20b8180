package policy_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// fifty returns fifty policies of the kinds that people write; with arguments some of them
// read what a call says.
func fifty(arguments bool) string {
	var b strings.Builder
	b.WriteString("@id(\"all\") permit (principal in Group::\"eng\", action, resource);\n")
	for i := range 49 {
		fmt.Fprintf(&b, "@id(\"p%d\") ", i)
		switch i % 7 {
		case 0:
			fmt.Fprintf(&b, "permit (principal in Group::\"g%d\", action, resource in Server::\"s%d\");\n", i, i%20)
		case 1:
			fmt.Fprintf(&b, "permit (principal in Group::\"eng\", action == Action::\"call\", resource in Label::\"s%d/get_*\");\n", i%20)
		case 2:
			fmt.Fprintf(&b, "forbid (principal in Group::\"g%d\", action, resource in Label::\"outbound\");\n", i)
		case 3:
			fmt.Fprintf(&b, "forbid (principal, action == Action::\"call\", resource in Label::\"s%d/delete_*\") unless {resource.pinned};\n", i%20)
		case 4:
			fmt.Fprintf(&b, "permit (principal, action == Action::\"call\", resource in Server::\"s%d\") when {resource.readOnly};\n", i%20)
		case 5:
			fmt.Fprintf(&b, "forbid (principal, action == Action::\"call\", resource == Tool::\"s%d/tool_%d\");\n", i%20, i)
		default:
			if arguments {
				b.WriteString("forbid (principal, action == Action::\"call\", resource in Server::\"s1\") when {context.args has amount && context.args.amount > 500 && context.clean has path && context.clean.path like \"/etc/*\"};\n")
			} else {
				fmt.Fprintf(&b, "forbid (principal in Group::\"nobody\", action, resource) when {context.args.amount > %d};\n", i)
			}
		}
	}
	return b.String()
}

func bigWorld() ([]policy.Server, []policy.Item) {
	var servers []policy.Server
	var items []policy.Item
	for s := range 20 {
		servers = append(servers, policy.Server{Name: fmt.Sprintf("s%d", s), Transport: "stdio", Trusted: s%2 == 0})
		for i := range 250 {
			verb := []string{"get", "list", "create", "delete", "tool"}[i%5]
			name := fmt.Sprintf("%s_%d", verb, i)
			items = append(items, policy.Item{Kind: policy.Tool, Server: servers[s].Name, Name: name, Definition: fmt.Appendf(nil,
				`{"name":%q,"description":%q,"annotations":{"readOnlyHint":%v},"inputSchema":{"type":"object","properties":{"amount":{"type":"integer"},"path":{"type":"string"},"q":{"type":"string"}}}}`,
				name, strings.Repeat("what it does ", 20), i%5 < 2)})
		}
	}
	return servers, items
}

func benchSet(b *testing.B, arguments bool) *policy.Set {
	b.Helper()
	set, err := policy.Compile(policy.Config{
		Groups:  map[string][]string{"eng": {"idp:engineers", "token|ci"}},
		Labels:  map[string][]string{"outbound": {"*/create_*"}},
		Sources: []policy.Source{{Name: "bench.cedar", Text: []byte(fifty(arguments))}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return set
}

func engineer(i int) *access.Principal {
	return &access.Principal{ID: fmt.Sprintf("https://idp.example|%d", i), Name: "somebody", Provider: "jwt", Groups: []string{"idp:engineers"}}
}

func BenchmarkCompile50(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		benchSet(b, true)
	}
}

// BenchmarkWorld5000 binds 50 policies to 5,000 tools: what a reload costs.
func BenchmarkWorld5000(b *testing.B) {
	set := benchSet(b, true)
	servers, items := bigWorld()
	b.ReportAllocs()
	for b.Loop() {
		set.Snapshot(servers, items)
	}
}

// BenchmarkView5000 makes the table of one view.
func BenchmarkView5000(b *testing.B) {
	for _, arguments := range []bool{false, true} {
		b.Run(fmt.Sprintf("arguments=%v", arguments), func(b *testing.B) {
			set := benchSet(b, arguments)
			servers, items := bigWorld()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				w := set.Snapshot(servers, items)
				b.StartTimer()
				w.View(engineer(1))
			}
		})
	}
}

// BenchmarkViewSame is another principal with the same view.
func BenchmarkViewSame(b *testing.B) {
	set := benchSet(b, true)
	w := set.Snapshot(bigWorld())
	w.View(engineer(0))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		w.View(engineer(i))
	}
}

// BenchmarkConstant is what a call costs whose verdict is constant, of a principal that was
// seen before.
func BenchmarkConstant(b *testing.B) {
	w := benchSet(b, true).Snapshot(bigWorld())
	p := engineer(1)
	b.ReportAllocs()
	for b.Loop() {
		if visible, c := w.View(p).Item(2); !visible || c != nil {
			b.Fatal(visible, c)
		}
	}
}

// BenchmarkArguments is a call of which three policies are left, with two conditions on
// arguments each.
func BenchmarkArguments(b *testing.B) {
	servers, items := bigWorld()
	set, err := policy.Compile(policy.Config{Sources: []policy.Source{{Text: []byte(`@id("a") permit (principal, action, resource);
@id("b") forbid (principal, action == Action::"call", resource) when {context.args has amount && context.args.amount > 500};
@id("c") forbid (principal, action == Action::"call", resource) when {context.clean has path && context.clean.path like "/etc/*"};
@id("d") forbid (principal, action == Action::"call", resource) when {context.args.amount > 50 && context.clean.path == "/tmp"};`)}}})
	if err != nil {
		b.Fatal(err)
	}
	_, c := set.Snapshot(servers, items).View(nil).Item(2)
	r := &policy.Request{Arguments: []byte(`{"q":"something that nobody reads","amount":120,"path":"/data/x/../y"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if out := c.Decide(r); out.Verdict != policy.Allow {
			b.Fatal(out)
		}
	}
}

// BenchmarkViewMemory tells what a view of 5,000 tools takes.
func BenchmarkViewMemory(b *testing.B) {
	for _, arguments := range []bool{false, true} {
		b.Run(fmt.Sprintf("arguments=%v", arguments), func(b *testing.B) {
			set := benchSet(b, arguments)
			servers, items := bigWorld()
			heap := func() uint64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			for b.Loop() {
				w := set.Snapshot(servers, items)
				w.View(engineer(0))
				before := heap()
				views := make(map[*policy.View]bool)
				for i := range 6 {
					views[w.View(&access.Principal{ID: fmt.Sprint("token|", i), Groups: []string{fmt.Sprintf("g%d", 7*i), "idp:engineers"}})] = true
				}
				b.ReportMetric(float64(heap()-before)/float64(len(views)), "bytes/view")
				runtime.KeepAlive(w)
			}
		})
	}
}

// BenchmarkUnlisted decides a resource that is in no list.
func BenchmarkUnlisted(b *testing.B) {
	v := compile(b, permitAll+`@id("b") forbid (principal, action, resource in Label::"fs/file:///D/priv/**");`).Snapshot(testServers, nil).View(alice)
	for _, uri := range []string{"file:///D/pub/x", "https://h.example/a/b?c=d", "note://a/b", "http://localhost:3000/x", "file:///D/a%20b", "file:///D/pub?/../x"} {
		b.Run(uri, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Unlisted(policy.Item{Kind: policy.Resource, Server: "fs", Name: uri})
			}
		})
	}
}
