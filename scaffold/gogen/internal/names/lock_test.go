package names_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestEditedNames: users may write names of their own into the lock file.
func TestEditedNames(t *testing.T) {
	s := sketch{tools: []tool{
		{name: "search", in: []member{{name: "q", values: []string{"a"}}}}, {name: "find"}, {name: "look_up"},
	}}
	_, r := resolve(t, s, names.Options{})
	locked := r.Names
	locked.Tools["search"] = "Find" // which the tool find would like to have
	locked.Types["tools/search#/inputSchema"].Name = "Query"
	locked.Types["tools/search#/inputSchema"].Fields["q"] = "Words"
	delete(locked.Tools, "find")
	delete(locked.Types, "tools/find#/inputSchema")
	ids, r := resolve(t, s, names.Options{Locked: locked})
	for what, want := range map[string]string{
		"method tool search": "Find", "package type tools/search#/inputSchema": "Query", `in:"tools/search#/inputSchema" field q`: "Words",
		"package type tools/search#/inputSchema/properties/q": "SearchQ",
	} {
		if ids[what] != want {
			t.Errorf("%s: got %s, want %s", what, ids[what], want)
		}
	}
	if got := ids["method tool find"]; !strings.HasPrefix(got, "FindX") {
		t.Errorf("the tool find is called %s", got)
	}
	if len(r.Collisions) != 1 || r.Collisions[0].Wanted != "Find" || r.Collisions[0].Other != "tool search" || r.Collisions[0].What != "tool find" {
		t.Errorf("collisions: %+v", r.Collisions)
	}
	// Two of one name: one of them gets another.
	locked.Tools["look_up"] = "Find"
	ids, _ = resolve(t, s, names.Options{Locked: locked})
	if ids["method tool search"] != "Find" || ids["method tool look_up"] != "LookUp" {
		t.Errorf("got %s and %s", ids["method tool search"], ids["method tool look_up"])
	}
}

func TestLockedNameImpossible(t *testing.T) {
	s := sketch{tools: []tool{{name: "a", in: plain("b")}}}
	for _, c := range []struct{ method, typ, field, want string }{
		{"not this", "AParams", "B", `tool a "not this": this is not a Go identifier`},
		{"a", "AParams", "B", `tool a "a": an exported name begins with a capital letter`},
		{"日", "AParams", "B", "capital letter"},
		{"Tools", "AParams", "B", "the lock file names tool a Tools, which is taken by the generated package itself"},
		{"A", "Client", "B", "type tools/a#/inputSchema Client, which is taken"},
		{"A", "Inlined", "B", "taken by the generated package itself"},
		{"A", "AParams", "Validate", `field "b" of tools/a#/inputSchema Validate, which is taken`},
	} {
		_, err := names.Resolve(s.build(), names.Options{Reserved: []string{"Inlined"}, Locked: &names.Names{
			Tools: map[string]string{"a": c.method},
			Types: map[string]*names.Type{"tools/a#/inputSchema": {Name: c.typ, Fields: map[string]string{"b": c.field}}, "x": nil},
		}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v", c, err)
		}
	}
}

// TestRetiredIsBounded: tools that come and go do not fill the lock file.
func TestRetiredIsBounded(t *testing.T) {
	var locked *names.Names
	for i := range 40 {
		s := sketch{tools: []tool{{name: fmt.Sprint("tool ", i)}}}
		for n := range 50 {
			s.tools[0].in = append(s.tools[0].in, member{name: fmt.Sprint("m", n)})
		}
		_, r := resolve(t, s, names.Options{Locked: locked})
		locked = r.Names
	}
	if len(locked.Retired) != names.MaxRetired || len(locked.Tools) != 1 {
		t.Errorf("%d are retired, %d are living", len(locked.Retired), len(locked.Tools))
	}
	// The oldest went first.
	if last := locked.Retired[len(locked.Retired)-1]; !strings.Contains(last.Key, "38") {
		t.Errorf("the last is %+v", last)
	}
}

// BenchmarkResolve is about 1,000 tools of 20 members.
func BenchmarkResolve(b *testing.B) {
	s := sketch{}
	for i := range 1000 {
		t := tool{name: fmt.Sprintf("tool_%d", i)}
		for n := range 20 {
			m := member{name: fmt.Sprintf("member_%d", n)}
			if n%4 == 0 {
				m.values = []string{"a", "b", "c"}
			}
			t.in = append(t.in, m)
		}
		s.tools = append(s.tools, t)
	}
	p := s.build()
	var o names.Options
	for b.Loop() {
		r, err := names.Resolve(p, o)
		require.NoError(b, err)
		o.Locked = r.Names
	}
}
