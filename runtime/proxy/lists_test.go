package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

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

// TestCursorOfAnotherCatalogue: after a change the pages are others.
func TestCursorOfAnotherCatalogue(t *testing.T) {
	servers := stubs{
		"a": {version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[{"name":"a"},{"name":"b"}]}`}},
		"b": {version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[]}`}},
	}
	dial := stubs{"a": servers["a"]}
	c := between(t, "2025-11-25", dial, proxy.Options{Servers: proxy.Named("a"), PageSize: 1})
	var page struct{ NextCursor string }
	require.NoError(t, json.Unmarshal([]byte(c.result("tools/list", `{}`)), &page))
	servers["a"].mu.Lock()
	servers["a"].answers["tools/list"] = `{"tools":[{"name":"a"},{"name":"z"}]}`
	h := servers["a"].h
	servers["a"].mu.Unlock()
	h.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
	if got := <-c.notes; !strings.Contains(got, "tools/list_changed") {
		t.Fatalf("got %s", got)
	}
	if got := c.call("tools/list", `{"cursor":"`+page.NextCursor+`"}`); !strings.Contains(got, `"code":-32602`) {
		t.Errorf("got %s", got)
	}
}
