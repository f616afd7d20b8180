package catalog

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
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
		got := WrapURI(tt.server, tt.uri)
		if got != tt.want {
			t.Errorf("%s of %s: got %s, want %s", tt.uri, tt.server, got, tt.want)
		}
		if server, bare, ok := UnwrapURI(got); !ok || server != tt.server || bare != tt.uri {
			t.Errorf("%s: got back %s of %s, %v", got, bare, server, ok)
		}
	}
	for _, uri := range []string{"file:///a", "mcpctl+file://fs", "", "x", "https://fs/a", "ui:x"} {
		if server, bare, ok := UnwrapURI(uri); ok {
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
		if back, bare, ok := UnwrapURI(WrapURI(server, uri)); !ok || back != server || bare != uri {
			t.Fatalf("%q of %q: %q: got back %q of %q, %v", uri, server, WrapURI(server, uri), bare, back, ok)
		}
	})
}

func TestOwnerByScheme(t *testing.T) {
	of := newOwners()
	of.addURI("a", "file:///a")
	of.addURI("b", "file:///b")
	of.addURI("a", "test://one/x")
	of.addURI("b", "test://two/x")
	of.addURI("a", "solo://h/x")
	of.addTemplate("a", "db://{host}/x")
	of.addURI("c", "db://c/x")
	of.addURI("a", "urn:x")
	of.addURI("a", "no scheme")
	for uri, want := range map[string]claim{
		"file:///z": {"a", []string{"b"}}, "TEST://ONE/z": {server: "a"}, "test://two": {server: "b"}, "test://three/z": {"a", []string{"b"}},
		"solo://other/z": {server: "a"}, "db://elsewhere/z": {server: "a"}, "db://c/z": {"c", []string{"a"}}, "urn:y": {server: "a"}, "new:z": {}, "no scheme": {},
	} {
		if got := of.ofScheme(uri); got.server != want.server || !slices.Equal(got.others, want.others) {
			t.Errorf("%s: got %v, want %v", uri, got, want)
		}
	}
}

func TestHandedOutIsBounded(t *testing.T) {
	var h handedOutLinks
	h.add("https://other", "b")
	for i := range maxHandedOut + 10 {
		h.add(fmt.Sprint("https://", i), "a")
		h.add("https://0", "a")
	}
	if len(h.of) != maxHandedOut+1 || !h.claim(fmt.Sprint("https://", maxHandedOut+9)).is("a") || !h.claim("https://1").nobody() {
		t.Errorf("got %d links", len(h.of))
	}
	if !h.claim("https://other").is("b") {
		t.Error("a server's links make room for another's")
	}
	h.forget("a")
	if len(h.of) != 1 {
		t.Errorf("got %d links of a server that is forgotten", len(h.of)-1)
	}
}

// membersIn counts the members of all objects in a document.
func membersIn(text []byte) int {
	var doc any
	if json.Unmarshal(text, &doc) != nil {
		return -1
	}
	n := 0
	var count func(v any)
	count = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				n++
				count(member)
			}
		case []any:
			for _, element := range v {
				count(element)
			}
		}
	}
	count(doc)
	return n
}

// FuzzExposed: a result with other URIs is JSON still, and has all its members.
func FuzzExposed(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"resource_link","uri":"file:///a"},{"type":"resource","resource":{"uri":"x"}}],"_meta":{"ui":{"resourceUri":"ui://a"}}}`,
		`{"messages":[{"content":{"type":"resource_link","uri":"a:\u0062"}}]}`, `{"contents":[{"uri":"u"},7,{"uri":{}}]}`, `{"_meta":{"ui/resourceUri":"x"}}`, `{"_meta":{"ui/resourceUri":":"}}`,
		`{"content":{"resource":1}}`, `[]`, `"resource"`,
	} {
		f.Add([]byte(s), "a:b")
	}
	set := upstream.NewSet(upstream.Options{Logger: slog.New(slog.DiscardHandler)})
	set.Roster.Store(&[]*upstream.Backend{upstream.NewBackend(set, settings.Settings{Name: "a"}), upstream.NewBackend(set, settings.Settings{Name: "b"})})
	p := NewPublisher(Options{Logger: set.Log}, set)
	f.Fuzz(func(t *testing.T, in []byte, asked string) {
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		for _, method := range []string{"tools/call", "prompts/get"} {
			if got := p.ExposedContent(set.All()[0], method, in); !json.Valid(got) || membersIn(got) < membersIn(in) {
				t.Fatalf("%s: %s became %s", method, in, got)
			}
		}
		if got := p.ExposedContents(set.All()[0], in, "u", asked); !json.Valid(got) {
			t.Fatalf("%s became %s", in, got)
		}
	})
}
