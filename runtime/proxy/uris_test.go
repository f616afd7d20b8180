package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// shops are two servers that share a scheme, with a user interface each.
func shops() stubs {
	shop := func(name string) *stub {
		return &stub{version: "2025-11-25", answers: map[string]string{
			"tools/list": `{"tools":[{"name":"show","_meta":{"ui":{"resourceUri":"ui://shop/page","csp":{"x":1.0}},"ui/resourceUri":"ui://shop/page"}},` +
				`{"name":"only-` + name + `"},{"name":"hidden-` + name + `","_meta":{"ui":{"visibility":["app"]}}}]}`,
			"prompts/list":             `{"prompts":[{"name":"p"}]}`,
			"resources/list":           `{"resources":[{"uri":"file:///` + name + `","name":"n"},{"uri":"file:///both","name":"n"},{"uri":"` + name + `://x/y","name":"n"},{"uri":"https://e/` + name + `","name":"n"},{"uri":"https://e/both","name":"n"}]}`,
			"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"file:///t/{x}","name":"n"},{"uriTemplate":"` + name + `://t/{x}","name":"n"}]}`,
			"tools/call": `{"content":[{"type":"resource_link","uri":"file:///link","name":"n","x":1.0},{"type":"resource","resource":{"uri":"` + name + `://e","text":"file:///in text"}},` +
				`{"type":"resource","resource":{"uri":"file:///e","text":""}},{"type":"resource_link","uri":"https://w/` + name + `","name":"n"},{"type":"resource_link","uri":"new://` + name + `","name":"n"},` +
				`{"type":"resource_link","uri":"data:,x","name":"n"},{"type":"text","text":"file:///text","uri":"file:///no"}],` +
				`"structuredContent":{"uri":"file:///s"},"_meta":{"ui":{"resourceUri":"ui://shop/other"},"uri":"file:///m"}}`,
			"prompts/get":         `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"file:///p","text":""}}}]}`,
			"resources/read":      `{"contents":[{"uri":"file:///` + name + `","text":""},{"uri":"file:///part","text":"","_meta":{"ui":{"csp":{}}}}]}`,
			"completion/complete": `{"completion":{"values":[]}}`,
		}}
	}
	return stubs{"a": shop("a"), "b": shop("b")}
}

func TestURIsOfServersThatShareAScheme(t *testing.T) {
	s := shops()
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a", "b")})
	for method, want := range map[string][]string{
		"tools/list": {
			`"_meta":{"ui":{"resourceUri":"ui://a/shop/page","csp":{"x":1.0}},"ui/resourceUri":"ui://a/shop/page"}`,
			`"_meta":{"ui":{"resourceUri":"ui://b/shop/page","csp":{"x":1.0}},"ui/resourceUri":"ui://b/shop/page"}`,
		},
		"resources/list":           {`"uri":"mcpctl+file://a////a"`, `"uri":"mcpctl+file://b////b"`, `"uri":"mcpctl+file://a////both"`, `"uri":"a://x/y"`, `"uri":"https://e/a"`, `"uri":"mcpctl+https://a///e/both"`},
		"resources/templates/list": {`"uriTemplate":"mcpctl+file://a////t/{x}"`, `"uriTemplate":"b://t/{x}"`},
	} {
		got := c.result(method, `{}`)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: got %s, want %s", method, got, w)
			}
		}
	}
	want := `{"content":[{"type":"resource_link","uri":"mcpctl+file://a////link","name":"n","x":1.0},{"type":"resource","resource":{"uri":"a://e","text":"file:///in text"}},` +
		`{"type":"resource","resource":{"uri":"mcpctl+file://a////e","text":""}},{"type":"resource_link","uri":"https://w/a","name":"n"},{"type":"resource_link","uri":"mcpctl+new://a///a","name":"n"},` +
		`{"type":"resource_link","uri":"data:,x","name":"n"},{"type":"text","text":"file:///text","uri":"file:///no"}],` +
		`"structuredContent":{"uri":"file:///s"},"_meta":{"ui":{"resourceUri":"ui://a/shop/other"},"uri":"file:///m"}}`
	if got := c.result("tools/call", `{"name":"a__show"}`); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got, want := c.result("prompts/get", `{"name":"b__p"}`), `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"mcpctl+file://b////p","text":""}}}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.result("resources/read", `{"uri":"mcpctl+file://a////a"}`), `{"contents":[{"uri":"mcpctl+file://a////a","text":""},{"uri":"mcpctl+file://a////part","text":"","_meta":{"ui":{"csp":{}}}}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Asked for as the server writes it, it comes back so.
	if got, want := c.result("resources/read", `{"uri":"file:///a"}`), `{"contents":[{"uri":"file:///a","text":""},{"uri":"mcpctl+file://a////part","text":"","_meta":{"ui":{"csp":{}}}}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestURIsThatAreAskedFor: in whatever form a client has a URI, it leads to the
// server it came from, in that server's form.
func TestURIsThatAreAskedFor(t *testing.T) {
	s := shops()
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("tools/call", `{"name":"b__show"}`)
	for _, tt := range []struct{ asked, server, bare string }{
		{"mcpctl+file://a////a", "a", "file:///a"},
		{"mcpctl+file://b////nowhere listed", "b", "file:///nowhere listed"},
		{"file:///a", "a", "file:///a"}, // as it may stand in text
		{"file:///both", "", ""},
		{"file:///unknown", "", ""},
		{"a://x/y", "a", "a://x/y"},
		{"a://x/unlisted", "a", "a://x/unlisted"},
		{"b://new/authority", "b", "b://new/authority"},
		{"https://e/b", "b", "https://e/b"},
		{"https://w/b", "b", "https://w/b"}, // out of a result
		{"https://w/never seen", "", ""},
		{"ui://a/shop/page", "a", "ui://shop/page"},
		{"ui://b/shop/page", "b", "ui://shop/page"},
		{"ui://b/any", "b", "ui://any"},
		{"ui://shop/page", "", ""},
		{"mcpctl+new://b///b", "b", "new://b"},
		{"mcpctl+new://c///b", "", ""},
	} {
		before := map[string]int{"a": s["a"].calls(), "b": s["b"].calls()}
		asked, _ := json.Marshal(tt.asked)
		got := c.call("resources/read", `{"uri":`+string(asked)+`}`)
		if tt.server == "" {
			if !strings.Contains(got, `"code":-32002`) || s["a"].calls() != before["a"] || s["b"].calls() != before["b"] {
				t.Errorf("%s: got %s", tt.asked, got)
			}
			continue
		}
		bare, _ := json.Marshal(tt.bare)
		if want := `resources/read {"uri":` + string(bare) + `}`; s[tt.server].last() != want || s[tt.server].calls() != before[tt.server]+1 {
			t.Errorf("%s: %s got %s, want %s", tt.asked, tt.server, s[tt.server].last(), want)
		}
	}
	for _, tt := range []struct{ asked, server, bare string }{
		{"mcpctl+file://a////t/{x}", "a", "file:///t/{x}"}, {"b://t/{x}", "b", "b://t/{x}"},
	} {
		c.result("completion/complete", `{"ref":{"type":"ref/resource","uri":"`+tt.asked+`"},"argument":{"name":"x","value":""}}`)
		if want := `completion/complete {"ref":{"type":"ref/resource","uri":"` + tt.bare + `"},"argument":{"name":"x","value":""}}`; s[tt.server].last() != want {
			t.Errorf("%s: got %s, want %s", tt.asked, s[tt.server].last(), want)
		}
	}
}

func TestURIsOfOneServer(t *testing.T) {
	s := stubs{"a": shops()["a"]}
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a")})
	if got, want := c.result("tools/call", `{"name":"a__show"}`), s["a"].answers["tools/call"]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c = between(t, "2025-11-25", s, proxy.Options{Servers: []proxy.Server{{Name: "a", WrapURIs: true}}})
	if got, want := c.result("tools/call", `{"name":"a__show"}`), `"uri":"mcpctl+a://a///e"`; !strings.Contains(got, want) || !strings.Contains(got, `"uri":"https://w/a"`) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.result("resources/list", `{}`), `"uri":"mcpctl+a://a///x/y"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAppsCallByTheirOwnNames: a page has the names of its server in it.
func TestAppsCallByTheirOwnNames(t *testing.T) {
	s := shops()
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("tools/call", `{"name":"only-b"}`)
	if got := s["b"].last(); got != `tools/call {"name":"only-b"}` {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"show", "hidden-a"} { // of both; for apps alone, of which b has some, too
		if got := c.call("tools/call", `{"name":"`+name+`"}`); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("%s: got %s", name, got)
		}
	}
	c.result("tools/call", `{"name":"a__hidden-a"}`)
	c = between(t, "2025-11-25", stubs{"a": s["a"]}, proxy.Options{Servers: proxy.Named("a")})
	c.result("tools/call", `{"name":"hidden-a"}`)
}

func TestTitlesAndIcons(t *testing.T) {
	tools := func(items string) map[string]string {
		return map[string]string{"tools/list": `{"tools":[` + items + `]}`}
	}
	s := stubs{
		"a": {version: "2025-11-25", answers: tools(`{"name":"x","title":"Search","y":1.0},{"name":"z","title":"Mine","icons":[{"src":"http://a/i.png"},{"src":"https://a/i.png","sizes":["1x1"]},{"src":"javascript:x"},{"src":"data:image/png;base64,"}]}`)},
		"b": {version: "2025-11-25", answers: tools(`{"name":"x","title":"Search"},{"name":"w","title":"Twice","icons":[{"src":"file:///x"}]},{"name":"v","title":"Twice"}`)},
	}
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a", "b")})
	want := `{"tools":[{"name":"a__x","title":"Search (a)","y":1.0},{"name":"a__z","title":"Mine","icons":[{"src":"https://a/i.png","sizes":["1x1"]},{"src":"data:image/png;base64,"}]},` +
		`{"name":"b__x","title":"Search (b)"},{"name":"b__w","title":"Twice","icons":[]},{"name":"b__v","title":"Twice"}]}`
	if got := c.result("tools/list", `{}`); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestQuickResultsAreConverted: the way without a goroutine is no way around.
func TestQuickResultsAreConverted(t *testing.T) {
	result := `{"content":[{"type":"resource_link","uri":"file:///l","name":"n"}]}`
	for version, want := range map[string]string{
		"2025-11-25": `{"content":[{"type":"resource_link","uri":"mcpctl+file://a////l","name":"n"}]}`,
		"2024-11-05": `{"content":[{"text":"n: mcpctl+file://a////l","type":"text","uri":"mcpctl+file://a////l","name":"n"}]}`,
	} {
		fixed := func(raw string) runtimetest.Func {
			return func(context.Context, *runtimetest.Call) (json.RawMessage, error) { return json.RawMessage(raw), nil }
		}
		server := runtimetest.New()
		server.Methods = map[string]runtimetest.Func{"tools/list": fixed(`{"tools":[{"name":"t"}]}`), "tools/call": fixed(result), "resources/list": fixed(`{"resources":[{"uri":"file:///x","name":"x"}]}`)}
		_, c := start(t, &backends{servers: map[string]*runtimetest.Server{"a": server, "b": server}}, proxy.Options{Servers: proxy.Named("a", "b")})
		c.result("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, version))
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.result("tools/list", `{}`)
		if got := c.result("tools/call", `{"name":"a__t"}`); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

// TestNothingDeclaredIsUnknown: a server without completions has none to offer,
// which is no error where the proxy has declared them.
func TestNothingDeclaredIsUnknown(t *testing.T) {
	s := stubs{"a": {version: "2025-11-25", answers: map[string]string{"prompts/list": `{"prompts":[{"name":"p"}]}`}}}
	c := between(t, "2025-11-25", s, proxy.Options{Servers: proxy.Named("a")})
	if got := c.result("completion/complete", `{"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"x","value":""}}`); got != `{"completion":{"values":[]}}` {
		t.Errorf("got %s", got)
	}
	modern := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	if got := c.result("completion/complete", `{`+modern+`,"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"x","value":""}}`); !strings.HasPrefix(got, `{"resultType":"complete"`) || !strings.HasSuffix(got, `"completion":{"values":[]}}`) {
		t.Errorf("got %s", got)
	}
}

// TestResultsWithoutASession: a request that stands alone is answered in the
// revision that it names; one that names none gets all there is.
func TestResultsWithoutASession(t *testing.T) {
	const link = `{"type":"resource_link","uri":"x:y","name":"n"}`
	server := runtimetest.New()
	server.Methods = map[string]runtimetest.Func{"tools/call": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[` + link + `]}`), nil
	}}
	for _, plain := range []bool{true, false} {
		w := startHTTP(t, &backends{servers: map[string]*runtimetest.Server{"a": server, "b": runtimetest.New()}, plain: plain}, proxy.HTTPOptions{})
		for version, stored := range map[string]bool{"2025-03-26": false, "2025-06-18": true, "": true} {
			var headers []string
			if version != "" {
				headers = []string{"MCP-Protocol-Version", version}
			}
			for range 2 { // first the slow way
				if _, _, body := w.post(echoCall, headers...); strings.Contains(body, `"type":"resource_link"`) != stored {
					t.Errorf("plain %v, %q: got %s", plain, version, body)
				}
			}
		}
	}
}

// TestPagesNamedAfterTheirServer: ui://NAME/… may be a server's own URI or the
// wrapped form of one.
func TestPagesNamedAfterTheirServer(t *testing.T) {
	app := func(uri string) *stub {
		return &stub{version: "2025-11-25", answers: map[string]string{
			"tools/list":     `{"tools":[{"name":"t","_meta":{"ui":{"resourceUri":"` + uri + `"}}}]}`,
			"resources/list": `{"resources":[]}`, "resources/read": `{"contents":[]}`,
		}}
	}
	read := func(c *client, s *stub, asked, bare string) {
		t.Helper()
		c.result("resources/read", `{"uri":"`+asked+`"}`)
		if want := `resources/read {"uri":"` + bare + `"}`; s.last() != want {
			t.Errorf("%s: got %s, want %s", asked, s.last(), want)
		}
	}
	one := stubs{"weather": app("ui://weather/page")}
	c := between(t, "2025-11-25", one, proxy.Options{Servers: proxy.Named("weather")})
	c.result("tools/list", `{}`)
	read(c, one["weather"], "ui://weather/page", "ui://weather/page")
	read(c, one["weather"], "ui://weather/unlisted", "ui://weather/unlisted")

	two := stubs{"weather": app("ui://weather/page"), "other": app("ui://weather/page")}
	c = between(t, "2025-11-25", two, proxy.Options{Servers: proxy.Named("weather", "other")})
	if got := c.result("tools/list", `{}`); !strings.Contains(got, `"ui://weather/weather/page"`) || !strings.Contains(got, `"ui://other/weather/page"`) {
		t.Errorf("got %s", got)
	}
	read(c, two["weather"], "ui://weather/weather/page", "ui://weather/page")
	read(c, two["other"], "ui://other/weather/page", "ui://weather/page")
	read(c, two["weather"], "ui://weather/page", "ui://weather/page") // it names that server, whatever another lists
	three := stubs{"weather": app("ui://weather/page"), "other": app("ui://x/page")}
	c = between(t, "2025-11-25", three, proxy.Options{Servers: proxy.Named("weather", "other")})
	c.result("tools/list", `{}`)
	read(c, three["weather"], "ui://weather/page", "ui://weather/page")
	read(c, three["other"], "ui://x/page", "ui://x/page")
}
