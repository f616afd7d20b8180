package catalog

import (
	"fmt"
	"slices"
	"testing"
)

func TestWrappedURIs(t *testing.T) {
	for _, tt := range []struct{ server, uri, want string }{
		{"fs", "file:///a%2Fb?q#f", "mcpctl+file://fs////a%2Fb?q#f"},
		{"fs", "test://host/x", "mcpctl+test://fs///host/x"},
		{"fs", "db://{host}/t{?q*}", "mcpctl+db://fs///{host}/t{?q*}"},
		{"fs", "urn:isbn:1", "mcpctl+urn://fs/isbn:1"},
		{"fs", "{scheme}://x", "mcpctl+://fs/{scheme}://x"},
		{"fs", "plain/name", "mcpctl+://fs/plain/name"},
		{"fs", "ui://host/x", "ui://fs/host/x"},
		{"fs", "ui:x", "mcpctl+ui://fs/x"},
		{"a/b c", "ui://h", "ui://a%2Fb%20c/h"},
		{"fs", "mcpctl+file://other////a", "mcpctl+mcpctl+file://fs///other////a"},
	} {
		got := Wrap(tt.server, tt.uri)
		if got != tt.want {
			t.Errorf("%s of %s: got %s, want %s", tt.uri, tt.server, got, tt.want)
		}
		if server, bare, ok := Unwrap(got); !ok || server != tt.server || bare != tt.uri {
			t.Errorf("%s: got back %s of %s, %v", got, bare, server, ok)
		}
	}
	for _, uri := range []string{"file:///a", "mcpctl+file://fs", "", "x", "https://fs/a", "ui:x"} {
		if server, bare, ok := Unwrap(uri); ok {
			t.Errorf("%s: got %s of %s", uri, bare, server)
		}
	}
}

// FuzzWrap: every URI comes back from its wrapped form.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"file:///a", "ui://a/b", "x", "", ":", "a:", "ui://", "mcpctl+a://b/c"} {
		f.Add("server", s)
	}
	f.Fuzz(func(t *testing.T, server, uri string) {
		if server == "" {
			return
		}
		if back, bare, ok := Unwrap(Wrap(server, uri)); !ok || back != server || bare != uri {
			t.Fatalf("%q of %q: %q: got back %q of %q, %v", uri, server, Wrap(server, uri), bare, back, ok)
		}
	})
}

func TestOwnerByScheme(t *testing.T) {
	of := NewOwners()
	of.AddURI("a", "file:///a")
	of.AddURI("b", "file:///b")
	of.AddURI("a", "test://one/x")
	of.AddURI("b", "test://two/x")
	of.AddURI("a", "solo://h/x")
	of.addTemplate("a", "db://{host}/x")
	of.AddURI("c", "db://c/x")
	of.AddURI("a", "urn:x")
	of.AddURI("a", "no scheme")
	for uri, want := range map[string]Claim{
		"file:///z": {"a", []string{"b"}}, "TEST://ONE/z": {Server: "a"}, "test://two": {Server: "b"}, "test://three/z": {"a", []string{"b"}},
		"solo://other/z": {Server: "a"}, "db://elsewhere/z": {Server: "a"}, "db://c/z": {"c", []string{"a"}}, "urn:y": {Server: "a"}, "new:z": {}, "no scheme": {},
	} {
		if got := of.OfScheme(uri); got.Server != want.Server || !slices.Equal(got.others, want.others) {
			t.Errorf("%s: got %v, want %v", uri, got, want)
		}
	}
}

func TestTemplateMatch(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"demo://x/{id}", "demo://x/7", true},
		{"demo://x/{id}", "demo://x/7/8", false},
		{"file:///{+path}", "file:///a/b.txt", true},
		{"demo://x{/a,b}", "demo://x/1/2", true},
		{"demo://x{?q}", "demo://x?q=1", true},
		{"demo://x.y/{id}", "demo://xzy/7", false},
	} {
		if got := Matcher(c.template)(c.uri); got != c.want {
			t.Errorf("%s %s: got %v", c.template, c.uri, got)
		}
	}
}

func TestHandedOutIsBounded(t *testing.T) {
	var h Links
	h.Add("https://other", "b", "")
	for i := range maxHandedOut + 10 {
		h.Add(fmt.Sprint("https://", i), "a", "")
		h.Add("https://0", "a", "")
	}
	if len(h.of) != maxHandedOut+1 || !h.Claim(fmt.Sprint("https://", maxHandedOut+9)).Is("a") || !h.Claim("https://1").Nobody() {
		t.Errorf("got %d links", len(h.of))
	}
	if !h.Claim("https://other").Is("b") {
		t.Error("a server's links make room for another's")
	}
	h.Forget("a")
	if len(h.of) != 1 {
		t.Errorf("got %d links of a server that is forgotten", len(h.of)-1)
	}
}

// TestLinksHaveShares: who fills the table takes nothing of what others have in it.
func TestLinksHaveShares(t *testing.T) {
	var h Links
	h.Add("https://bobs", "a", "bob")
	for i := range 2 * maxHandedOut {
		h.Add(fmt.Sprint("https://", i), "a", "alice")
	}
	if len(h.of) != maxHandedOut || !h.Claim("https://bobs").Is("a") || !h.Claim("https://0").Nobody() {
		t.Errorf("got %d links, of bob's %v", len(h.of), h.Claim("https://bobs"))
	}
	h.Add("https://bobs-too", "a", "bob")
	if len(h.of) != maxHandedOut || !h.Claim("https://bobs").Is("a") || !h.Claim("https://bobs-too").Is("a") {
		t.Error("bob has no room")
	}
	h.Forget("a")
	if len(h.of) != 0 {
		t.Errorf("got %d links of a server that is forgotten", len(h.of))
	}
}
