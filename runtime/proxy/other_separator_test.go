package proxy_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// TestOtherSeparator: a name with another separator than ours leads to the one tool
// that it can be meant for, and to none where another server or tool can be.
func TestOtherSeparator(t *testing.T) {
	for _, tt := range []struct {
		name      string
		separator string
		servers   map[string]*stub
		order     []string
		asked     string
		server    string // where it leads, "" for nowhere
		tool      string
	}{
		{"three underscores", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh___search", "gh", "search"},
		{"a dot", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh.search", "gh", "search"},
		{"a slash", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh/search", "gh", "search"},
		{"two underscores", "___", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh__search", "gh", "search"},
		{"a server with a dot", "", map[string]*stub{"io.acme": simple("x")}, []string{"io.acme"}, "io.acme/x", "io.acme", "x"},
		{"as exposed, with a dot", "", map[string]*stub{"io.acme": simple("x")}, []string{"io.acme"}, "io_acme.x", "io.acme", "x"},
		{"beside others", "", map[string]*stub{"gh": simple("search"), "fs": simple("search")}, []string{"fs", "gh"}, "gh.search", "gh", "search"},
		{"a tool that is not there", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh.find", "", ""},
		{"no server", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gx.search", "", ""},
		{"a server and no tool", "", map[string]*stub{"gh": simple("search")}, []string{"gh"}, "gh.", "", ""},
		{"two tools", "", map[string]*stub{"gh": simple("search", "_search")}, []string{"gh"}, "gh___search", "", ""},
		{"two servers", "", map[string]*stub{"a": simple("b.c"), "a.b": simple("c")}, []string{"a", "a.b"}, "a.b.c", "", ""},
		{"two servers, one with the tool", "", map[string]*stub{"a": simple("x"), "a.b": simple("c")}, []string{"a", "a.b"}, "a.b.c", "", ""},
		{"another's beginning", "", map[string]*stub{"a": simple("t"), "a_": simple("x")}, []string{"a", "a_"}, "a___t", "", ""},
		{"a name of ours first", "", map[string]*stub{"a": simple("b.c"), "a__b": simple("c")}, []string{"a", "a__b"}, "a__b.c", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _, _ := run(t, stubs(tt.servers).dial, proxy.Options{Servers: proxy.Named(tt.order...), Separator: tt.separator})
			got := c.call("tools/call", `{"name":"`+tt.asked+`"}`)
			if (tt.server == "") != refuses(got) {
				t.Errorf("got %s", got)
			}
			for name, s := range tt.servers {
				want := ""
				if name == tt.server {
					want = `tools/call {"name":"` + tt.tool + `"}`
				}
				if s.calls() > 0 != (want != "") || want != "" && s.last() != want {
					t.Errorf("%s got %d calls, %q; want %q", name, s.calls(), s.last(), want)
				}
			}
		})
	}
}

// TestOtherSeparatorListed: what begins with the name of a server that was removed
// stays that server's, and a name that a server lists, or has listed, stays that name.
func TestOtherSeparatorListed(t *testing.T) {
	t.Run("by another, as a whole", func(t *testing.T) {
		servers := stubs{"gh": simple("search"), "fs": simple("gh.search")}
		c, _ := world(t, servers, proxy.Options{Servers: proxy.Named("gh", "fs")})
		c.result("tools/list", `{}`)
		if got := c.call("tools/call", `{"name":"gh.search"}`); !refuses(got) || servers["gh"].calls() > 0 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a server removed", func(t *testing.T) {
		servers := stubs{"gh": simple("x.search"), "gh.x": simple("search")}
		c, p := world(t, servers, proxy.Options{Servers: proxy.Named("gh", "gh.x")})
		c.result("tools/list", `{}`)
		reconfigure(t, p, proxy.Named("gh"))
		if got := c.call("tools/call", `{"name":"gh.x.search"}`); !refuses(got) || servers["gh"].calls() > 0 {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a tool removed", func(t *testing.T) {
		servers := stubs{"gh": simple("_search", "search")}
		servers["gh"].capabilities = `{"tools":{"listChanged":true}}`
		c, _ := world(t, servers, proxy.Options{Servers: proxy.Named("gh")})
		c.result("tools/list", `{}`)
		servers["gh"].answer("tools/list", strings.Replace(servers["gh"].answers["tools/list"], `{"name":"_search","inputSchema":{"type":"object"}},`, "", 1))
		servers["gh"].changed(c, "tools")
		if got := c.call("tools/call", `{"name":"gh___search"}`); !refuses(got) || servers["gh"].calls() > 0 {
			t.Errorf("got %s", got)
		}
	})
}
