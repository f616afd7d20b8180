package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"unicode/utf8"
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
		got := wrapURI(tt.server, tt.uri)
		if got != tt.want {
			t.Errorf("%s of %s: got %s, want %s", tt.uri, tt.server, got, tt.want)
		}
		if server, bare, ok := unwrapURI(got); !ok || server != tt.server || bare != tt.uri {
			t.Errorf("%s: got back %s of %s, %v", got, bare, server, ok)
		}
	}
	for _, uri := range []string{"file:///a", "mcpctl+file://fs", "", "x", "https://fs/a", "ui:x"} {
		if server, bare, ok := unwrapURI(uri); ok {
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
		if back, bare, ok := unwrapURI(wrapURI(server, uri)); !ok || back != server || bare != uri {
			t.Fatalf("%q of %q: %q: got back %q of %q, %v", uri, server, wrapURI(server, uri), bare, back, ok)
		}
	})
}

func TestWhoseURI(t *testing.T) {
	a, b, c := newBackend(&Proxy{lifetime: t.Context()}, Server{Name: "a"}), newBackend(&Proxy{lifetime: t.Context()}, Server{Name: "b"}), newBackend(&Proxy{lifetime: t.Context()}, Server{Name: "c"})
	of := newClaims()
	of.add(a, "file:///a")
	of.add(b, "file:///b")
	of.add(a, "test://one/x")
	of.add(b, "test://two/x")
	of.add(a, "solo://h/x")
	of.add(a, "db://{host}/x")
	of.add(c, "db://c/x")
	of.add(a, "urn:x")
	of.add(a, "no scheme")
	for uri, want := range map[string]*backend{
		"file:///z": nil, "TEST://ONE/z": a, "test://two": b, "test://three/z": nil,
		"solo://other/z": a, "db://elsewhere/z": a, "db://c/z": nil, "urn:y": a, "new:z": nil, "no scheme": nil,
	} {
		if got := of.owner(uri); got != want {
			t.Errorf("%s: got %v, want %v", uri, got, want)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	var n notes
	a := newBackend(&Proxy{lifetime: t.Context()}, Server{})
	for i := range maxNotes + 10 {
		n.add(fmt.Sprint("https://", i), a)
		n.add("https://0", a)
	}
	if len(n.of) != maxNotes || n.get(fmt.Sprint("https://", maxNotes+9)) != a || n.get("https://1") != nil {
		t.Errorf("got %d notes", len(n.of))
	}
}

// FuzzExposed: a result with other URIs is JSON still, and has all its members.
func FuzzExposed(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"resource_link","uri":"file:///a"},{"type":"resource","resource":{"uri":"x"}}],"_meta":{"ui":{"resourceUri":"ui://a"}}}`,
		`{"messages":[{"content":{"type":"resource_link","uri":"a:\u0062"}}]}`, `{"contents":[{"uri":"u"},7,{"uri":{}}]}`, `{"_meta":{"ui/resourceUri":"x"}}`,
		`{"content":{"resource":1}}`, `[]`, `"resource"`,
	} {
		f.Add([]byte(s), "a:b")
	}
	p := &Proxy{log: slog.New(slog.DiscardHandler), lifetime: f.Context()}
	p.roster.Store(&[]*backend{newBackend(p, Server{Name: "a"}), newBackend(p, Server{Name: "b"})})
	p.snap.Store(newSnapshot(p))
	f.Fuzz(func(t *testing.T, in []byte, asked string) {
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		for _, method := range []string{"tools/call", "prompts/get"} {
			if got := p.exposedContent(p.all()[0], method, in); !json.Valid(got) || bytes.Count(got, []byte(`":`)) < bytes.Count(in, []byte(`":`)) {
				t.Fatalf("%s: %s became %s", method, in, got)
			}
		}
		if got := p.exposedContents(p.all()[0], in, "u", asked); !json.Valid(got) {
			t.Fatalf("%s became %s", in, got)
		}
	})
}
