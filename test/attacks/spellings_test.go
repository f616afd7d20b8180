//go:build attacks && linux

package attacks_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// spelled are other ways to write the URI of something that policies deny, as some program
// reads them: in each, files has file:///D/priv/x, web https://intranet.example/x, notes
// note:priv/1 and rooms room://priv/1.
var spelled = [][2]string{
	{"as it is", "file:///D/priv/x"},
	{"capitals", "FILE:///D/priv/x"},
	{"localhost", "file://localhost/D/priv/x"},
	{"localhost in capitals", "file://LOCALHOST/D/priv/x"},
	{"another host", "file://other.example/D/priv/x"},
	{"one slash", "file:/D/priv/x"},
	{"four slashes", "file:////D/priv/x"},
	{"a double slash", "file:///D//priv/x"},
	{"dots", "file:///D/pub/../priv/x"},
	{"a dot", "file:///D/./priv/x"},
	{"escaped dots", "file:///D/pub/%2e%2e/priv/x"},
	{"half escaped dots", "file:///D/pub/.%2E/priv/x"},
	{"dots with an escaped slash", "file:///D/pub/..%2fpriv/x"},
	{"dots behind a query", "file:///D/pub?/../priv/x"},
	{"dots behind a fragment", "file:///D/pub#/../priv/x"},
	{"escaped dots behind a query", "file:///D/pub?/%2e%2E/priv/x"},
	{"dots and an escaped slash behind a query", "file:///D/pub?/..%2Fpriv/x"},
	{"backslashes behind a query", `file:///D/pub?\..\priv\x`},
	{"an escaped letter", "file:///D/pr%69v/x"},
	{"an escaped slash", "file:///D/priv%2Fx"},
	{"backslashes", `file:\\\D\priv\x`},
	{"a backslash", `file:///D\priv\x`},
	{"escaped backslashes and dots", "file:///D/pub%5c..%5cpriv/x"},
	{"a query behind", "file:///D/priv/x?y"},
	{"a fragment behind", "file:///D/priv/x#y"},
	{"a space before", " file:///D/priv/x"},
	{"a line end within", "file:///D/pr\niv/x"},
	{"a tab within the scheme", "fi\tle:///D/priv/x"},

	{"a page as it is", "https://intranet.example/x"},
	{"a page in capitals", "HTTPS://Intranet.Example/x"},
	{"the default port", "https://intranet.example:443/x"},
	{"the default port with a zero", "https://intranet.example:0443/x"},
	{"an empty port", "https://intranet.example:/x"},
	{"a user", "https://u@intranet.example/x"},
	{"a user with a password", "https://u:p@intranet.example/x"},
	{"a user with an at sign", "https://u@v@intranet.example/x"},
	{"a dot behind the host", "https://intranet.example./x"},
	{"a user, a dot and a port", "https://u@intranet.example.:443/x"},
	{"a page with backslashes", `https:\\intranet.example\x`},
	{"a page with both slashes", `https:/\intranet.example/x`},
	{"a page with a backslash", `https://intranet.example\x`},
	{"a page without slashes", "https:intranet.example/x"},
	{"a page with one slash", "https:/intranet.example/x"},
	{"a page with three slashes", "https:///intranet.example/x"},
	{"a page with four slashes", "https:////intranet.example/x"},
	{"an escaped letter of the host", "https://%69ntranet.example/x"},
	{"a line end in the host", "https://intra\nnet.example/x"},
	{"dots of a page", "https://intranet.example/y/../x"},
	{"escaped dots of a page", "https://intranet.example/y/%2e%2e/x"},
	{"dots of a page behind a query", "https://intranet.example/y?/../x"},
	{"a double slash of a page", "https://intranet.example//x"},
	{"a host of dots", "https://other.example/../intranet.example/x"},
	{"no path", "https://intranet.example"},
	{"no path and a query", "https://intranet.example?"},
	{"no path and a fragment", "https://intranet.example#y"},
	{"a host behind a backslash", `https://intranet.example\@other.example/x`},
	{"a host before a backslash", `https://other.example\@intranet.example/x`},

	{"a note as it is", "note:priv/1"},
	{"dots of a note", "note:pub/../priv/1"},
	{"a dot before a note", "note:./priv/1"},
	{"an escaped dot of a note", "note:pub/%2e./priv/1"},
	{"an escaped slash of a note", "note:pub/..%2fpriv/1"},
	{"a fragment of a note", "note:pub#/../priv/1"},
	{"a room as it is", "room://priv/1"},
	{"a room in capitals", "ROOM://priv/1"},
	{"a room with dots", "room://pub/../priv/1"},
	{"a room with dots behind a query", "room://pub?/../priv/1"},
	{"a room with an escape", "room://priv/%31"},
}

// spelledServers have one scheme each, so that what no list has is asked of them.
func spelledServers() map[string]spec {
	has := func(tool string, uris ...string) spec {
		s := spec{Tools: []string{plainTool(tool)}}
		for _, uri := range uris {
			s.Resources = append(s.Resources, resource(uri))
		}
		return s
	}
	return map[string]spec{
		"files": has("stat", "file:///D/pub/x", "file:///D/priv/x"),
		"web":   has("fetch", "https://other.example/x", "https://intranet.example/x"),
		"notes": has("note", "note:pub/1", "note:priv/1"),
		"rooms": has("enter", "room://pub/1", "room://priv/1"),
	}
}

// spelledWorlds are configurations that leave out the same resources. $DIR has their files.
var spelledWorlds = []struct{ name, config string }{
	{"a rule", `access:
  default: allow
  rules:
    - {deny: "*", to: "resource:files/file:///D/priv/**"}
    - {deny: "*", to: "resource:web/https://intranet.example/**"}
    - {deny: "*", to: "resource:notes/note:priv/**"}
    - {deny: "*", to: "resource:rooms/room://priv/**"}
`},
	{"an allow around", `access:
  default: deny
  rules:
    - {allow: local, to: ["resource:files/file:**", "resource:web/https:**", "resource:notes/note:**", "resource:rooms/room:**"]}
    - {deny: "*", to: ["resource:files/file:///D/priv/**", "resource:web/https://intranet.example/**", "resource:notes/note:priv/**", "resource:rooms/room://priv/**"]}
`},
	{"Cedar", `access:
  default: allow
  policies: [$DIR/priv.cedar]
`},
	{"a view", `serve:
  view: part
  views:
    part:
      resources: ["!file:///D/priv/**", "!https://intranet.example/**", "!note:priv/**", "!room://priv/**"]
`},
	{"a rule, in a view", `serve:
  view: part
  views:
    part: {list: search, instructions: Look.}
access:
  default: allow
  rules:
    - {deny: "*", to: ["resource:files/file:///D/priv/**", "resource:web/https://intranet.example/**", "resource:notes/note:priv/**", "resource:rooms/room://priv/**"]}
`},
}

const spelledCedar = `@id("priv") forbid (principal, action, resource) when {
  resource.uri like "file:///D/priv/*" || resource.uri like "https://intranet.example/*" ||
  resource.uri like "note:priv/*" || resource.uri like "room://priv/*"
};
`

func (s *stage) spelled(world string) *policed {
	return s.policed("spelled "+world, func() *policed {
		dir, config := s.t.TempDir(), ""
		for _, w := range spelledWorlds {
			if w.name == world {
				config = strings.ReplaceAll(w.config, "$DIR", dir)
			}
		}
		require.NoError(s.t, os.WriteFile(filepath.Join(dir, "priv.cedar"), []byte(spelledCedar), 0o600))
		return newPoliced(s.t, config, spelledServers())
	})
}

// spellings has what is denied asked for under each spelling. Without a rule, a server is
// asked for each but those whose scheme has a space or a tab: the first world looks at that.
func spellings() class {
	c := class{name: "spellings"}
	add := func(name string, do func(t *testing.T, s *stage)) {
		c.cases = append(c.cases, attack{name: name, do: do})
	}
	refused := func(t *testing.T, s *stage, world string, w way, method, params string) {
		t.Helper()
		p := s.spelled(world)
		p.unused(t, func() {
			refusedBy(t, w.ask(t, s, p, "", method, params), `"error":`)
		})
	}
	for i, world := range spelledWorlds {
		for _, row := range spelled {
			for _, w := range ways() {
				if i > 0 && w.stdio {
					continue // the first world shows that transports have the same rules
				}
				at := `{"uri":` + wire.Quote(row[1]) + `}`
				add(fmt.Sprintf("%s: %s, %s", world.name, row[0], w.name), func(t *testing.T, s *stage) {
					if i == 0 && !w.stdio && strings.Trim(row[1], " ") == row[1] && !strings.Contains(row[1], "\t") {
						open := s.spelled("none")
						before := open.uses(t)
						if w.ask(t, s, open, "", "resources/read", at); open.uses(t) == before {
							t.Error("no server is asked for it without a rule, either")
						}
					}
					refused(t, s, world.name, w, "resources/read", at)
				})
			}
			if i > 0 {
				continue
			}
			add("a subscription: "+row[0], func(t *testing.T, s *stage) {
				p := s.spelled(world.name)
				hers := openSession(t, p.Daemon, `{}`)
				p.unused(t, func() {
					expect(t, post(t, p.Daemon, wire.Request("1", "resources/subscribe", `{"uri":`+wire.Quote(row[1])+`}`), hers), `200 "error"`)
				})
			})
			add("a completion: "+row[0], func(t *testing.T, s *stage) {
				refused(t, s, world.name, ways()[0], "completion/complete", `{"ref":{"type":"ref/resource","uri":`+wire.Quote(row[1])+`},"argument":{"name":"a","value":"v"}}`)
			})
		}
	}
	return c
}

// nameHeader is a text as a header repeats it: in base64 where it is not plain.
func nameHeader(name string) string {
	plain := name == strings.TrimSpace(name) && !strings.HasPrefix(name, "=?")
	for _, r := range name {
		plain = plain && ' ' <= r && r <= '~'
	}
	if plain {
		return name
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
}
