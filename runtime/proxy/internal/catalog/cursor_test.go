package catalog

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestCursorsOfPrincipals: the cursor of one is to all others what was never given out.
// Everybody gets the same items.
func TestCursorsOfPrincipals(t *testing.T) {
	t.Parallel()
	p := manyTools(t, 2500)
	p.o.PageSize = DefaultPage
	p.Current.Load().lists[inventory.Tools].fresh = inventory.Freshness{Until: time.Now().Add(time.Hour), Public: true}
	for _, version := range []string{revision.Latest, revision.Modern} {
		list := func(id, at string) (items, next string, err error) {
			c, who := p.Current.Load(), by(nil)
			if id != "" {
				who = by(&access.Principal{ID: id})
			}
			from, _, err := OpenCursor(p.o.Ring, inventory.Tools, who.Key(), []byte(`{"cursor":`+at+`}`))
			if err != nil {
				return "", "", err
			}
			raw := p.page(c, inventory.Tools, version == revision.Modern, who, from)
			if scope := `"cacheScope":"public"`; version == revision.Modern && strings.Contains(string(raw[:200]), scope) != (id == "") {
				t.Errorf("%q: got %s", id, raw[:200])
			}
			var page struct {
				Tools      json.RawMessage
				NextCursor json.RawMessage
			}
			require.NoError(t, json.Unmarshal(raw, &page))
			return string(page.Tools), string(page.NextCursor), nil
		}
		_, _, unknown := list("p|alice", `"AQIDBAUGBwgJ"`)
		const nobody = ""
		first := ""
		all := []string{"p|alice", "p|bob", nobody, "p|alice", "p|alic"}
		for _, id := range all {
			items, next, err := list(id, "null")
			require.NoError(t, err)
			second, _, err := list(id, next)
			require.NoError(t, err)
			if first == "" {
				first = items + second
			}
			if items+second != first {
				t.Errorf("%q sees other items", id)
			}
			for _, other := range all {
				if _, _, err := list(other, next); (err == nil) != (other == id) || err != nil && err.Error() != unknown.Error() {
					t.Errorf("%s: %q comes with a cursor of %q: got %v, an unknown one %v", version, other, id, err, unknown)
				}
			}
		}
	}
}

// TestScopeOfAView: what the address alone has decided may be cached for all.
func TestScopeOfAView(t *testing.T) {
	t.Parallel()
	p := manyTools(t, 3)
	p.Current.Load().lists[inventory.Tools].fresh = inventory.Freshness{Until: time.Now().Add(time.Hour), Public: true}
	for who, want := range map[upstream.Audience]string{
		{View: "v"}: `"cacheScope":"public"`, {View: "v", Private: true}: `"cacheScope":"private"`, {Who: &access.Principal{ID: "a"}, View: "v"}: `"cacheScope":"private"`,
	} {
		for range 2 { // the second is kept
			if got := p.page(p.Current.Load(), inventory.Tools, true, who, CursorPlace{}); !strings.Contains(string(got), want) {
				t.Errorf("%v: got %.200s", who, got)
			}
		}
	}
}
