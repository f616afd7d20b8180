package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// listed gives the names of all pages of a list and how many pages there were.
func listed(t *testing.T, c *client, method, member string) (names []string, pages int) {
	t.Helper()
	params := `{"cursor":null}`
	for range 100 {
		var page map[string]json.RawMessage
		var items []struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(c.result(method, params)), &page))
		require.NoError(t, json.Unmarshal(page[member], &items))
		for _, i := range items {
			names = append(names, i.Name)
		}
		pages++
		if page["nextCursor"] == nil {
			return names, pages
		}
		params = `{"cursor":` + string(page["nextCursor"]) + `}`
	}
	t.Fatal("pages without end")
	return nil, 0
}

func TestPages(t *testing.T) {
	var a, b []string
	for i := range 7 {
		a = append(a, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
		b = append(b, fmt.Sprintf(`{"name":"u%d","inputSchema":{"type":"object"}}`, i))
	}
	servers := stubs{
		"a": {version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[` + strings.Join(a, ",") + `]}`}},
		"b": {version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[` + strings.Join(b, ",") + `]}`}},
	}
	for size, want := range map[int]int{0: 1, -1: 1, 3: 5, 7: 2, 14: 1, 13: 2} {
		c := between(t, "2025-11-25", servers, proxy.Options{Servers: proxy.Named("a", "b"), PageSize: size})
		names, pages := listed(t, c, "tools/list", "tools")
		if pages != want || len(names) != 14 || names[0] != "a__t0" || names[7] != "b__u0" || names[13] != "b__u6" || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 14 {
			t.Errorf("size %d: got %d pages: %v", size, pages, names)
		}
	}
}

// TestCursors: only a cursor of the very list is one.
func TestCursors(t *testing.T) {
	servers := stubs{"a": {version: "2025-11-25", answers: map[string]string{
		"tools/list":   `{"tools":[{"name":"a"},{"name":"b"},{"name":"c"}]}`,
		"prompts/list": `{"prompts":[{"name":"a"},{"name":"b"},{"name":"c"}]}`,
	}}}
	c := between(t, "2025-11-25", servers, proxy.Options{Servers: proxy.Named("a"), PageSize: 1})
	var page struct{ NextCursor string }
	require.NoError(t, json.Unmarshal([]byte(c.result("tools/list", `{}`)), &page))
	cursor := page.NextCursor
	flipped := []byte(cursor)
	flipped[len(flipped)-2] ^= 1
	other := between(t, "2025-11-25", servers, proxy.Options{Servers: proxy.Named("a"), PageSize: 1})
	for name, try := range map[string]string{
		"empty":             c.call("tools/list", `{"cursor":""}`),
		"no text":           c.call("tools/list", `{"cursor":1}`),
		"made up":           c.call("tools/list", `{"cursor":"2"}`),
		"tampered with":     c.call("tools/list", `{"cursor":"`+string(flipped)+`"}`),
		"of another list":   c.call("prompts/list", `{"cursor":"`+cursor+`"}`),
		"of another's keys": other.call("tools/list", `{"cursor":"`+cursor+`"}`),
	} {
		if !strings.Contains(try, `"code":-32602`) {
			t.Errorf("%s: got %s", name, try)
		}
	}
	if got := c.result("tools/list", `{"cursor":"`+cursor+`"}`); !strings.Contains(got, `"a__b"`) {
		t.Errorf("got %s", got)
	}
}

// TestPagesOfAChangingList: a page is made of the list and the policies of now, and begins
// behind the name of the page before: what comes, goes or is denied meanwhile has no name
// twice and skips none that was there all the time. So it is on another replica with the
// same keys, whatever order the server lists in there.
func TestPagesOfAChangingList(t *testing.T) {
	t.Parallel()
	for method, of := range map[string]struct{ member, item, changed, denies string }{
		"tools/list":               {"tools", `{"name":%q,"inputSchema":{"type":"object"}}`, "tools", allowAll + `@id("d") forbid (principal, action, resource == Tool::"a/d");`},
		"prompts/list":             {"prompts", `{"name":%q}`, "prompts", allowAll + `@id("d") forbid (principal, action, resource == Prompt::"a/d");`},
		"resources/list":           {"resources", `{"uri":"x:%[1]s","name":%[1]q}`, "resources", allowAll + `@id("d") forbid (principal, action, resource == Resource::"a/x:d");`},
		"resources/templates/list": {"resourceTemplates", `{"uriTemplate":"x://%[1]s/{v}","name":%[1]q}`, "resources", allowAll + `@id("d") forbid (principal, action, resource in Label::"a/x://d/**");`},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			listOf := func(names ...string) string {
				items := make([]string, len(names))
				for i, name := range names {
					items[i] = fmt.Sprintf(of.item, name)
				}
				return `{"` + of.member + `":[` + strings.Join(items, ",") + `]}`
			}
			ring := seal.NewKeyring()
			replica := func(names ...string) (*proxy.Proxy, *stub, *client, *gate.Gate) {
				a := &stub{version: "2025-11-25", answers: map[string]string{method: listOf(names...)}}
				g := gated(t, allowAll)
				p, err := proxy.New(proxy.Options{Servers: proxy.Named("a"), PageSize: 2, Ring: ring, Gate: g, Dial: stubs{"a": a}.dial})
				require.NoError(t, err)
				t.Cleanup(func() { _ = p.Close() })
				c := attach(t, p)
				c.hello("2025-11-25", `{}`, "c")
				return p, a, c, g
			}
			page := func(c *client, cursor json.RawMessage) (names []string, next json.RawMessage) {
				var page map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(c.result(method, `{"cursor":`+string(cursor)+`}`)), &page))
				var items []struct{ Name string }
				require.NoError(t, json.Unmarshal(page[of.member], &items))
				for _, i := range items {
					names = append(names, strings.TrimPrefix(i.Name, "a__"))
				}
				return names, page["nextCursor"]
			}
			rest := func(c *client, cursor json.RawMessage) (all []string) {
				for names := []string(nil); cursor != nil; all = append(all, names...) {
					names, cursor = page(c, cursor)
				}
				return all
			}
			p, a, c, g := replica("g", "e", "c", "a", "f", "d", "b")
			first, next := page(c, json.RawMessage("null"))
			if fmt.Sprint(first) != "[a b]" {
				t.Fatalf("got %v", first)
			}
			a.mu.Lock()
			a.answers[method] = listOf("h", "g", "aa", "f", "bb", "d", "c", "a") // b and e go; aa, bb and h come
			h := a.h
			a.mu.Unlock()
			h.Notification(t.Context(), nil, "notifications/"+of.changed+"/list_changed", nil)
			if got := <-c.notes; !strings.Contains(got, of.changed+"/list_changed") {
				t.Fatalf("got %s", got)
			}
			if got := rest(c, next); fmt.Sprint(got) != "[bb c d f g h]" {
				t.Errorf("after a change: got %v", got)
			}
			g.Replace(gate.Config{Set: policies(t, of.denies)})
			p.Repolicy()
			if got := rest(c, next); fmt.Sprint(got) != "[bb c f g h]" {
				t.Errorf("after d is denied: got %v", got)
			}
			_, _, other, _ := replica("b", "c", "z", "a")
			if got := rest(other, next); fmt.Sprint(got) != "[c z]" {
				t.Errorf("on another replica: got %v", got)
			}
		})
	}
}
