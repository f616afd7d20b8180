package find_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func tools(names ...string) (all []json.RawMessage) {
	for _, name := range names {
		all = append(all, json.RawMessage(`{"name":"`+name+`"}`))
	}
	return append(all, json.RawMessage(`7`))
}

// TestMissing: names are those of serve, with its settings, and those of a server without a list
// are not missing.
func TestMissing(t *testing.T) {
	lists := []find.List{{Server: "gh", Items: tools("a.b", "c")}, {Server: "fs", Items: tools("c")}}
	for _, tc := range []struct {
		prefix  bool
		servers []string
		want    string // missing of those named below
		exposed string
	}{
		{true, []string{"gh", "fs"}, "a.b c later__x", "gh__a_b gh__c fs__c"},
		{true, []string{"gh", "fs", "later"}, "", "gh__a_b gh__c fs__c"},
		{false, []string{"gh", "fs"}, "gh__a_b later__x", "a.b c"},
		{false, []string{"gh", "fs", "later"}, "", "a.b c"},
	} {
		path := filepath.Join(t.TempDir(), settings.FileName)
		text := "serve:\n  views:\n    v:\n      override:\n"
		for _, name := range []string{"gh__a_b", "a.b", "c", "later__x"} {
			text += "        " + name + ": {title: T}\n"
		}
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		set, err := settings.Views(path)
		require.NoError(t, err)
		all := find.Of(settings.Serve{Prefix: tc.prefix, NameOverhead: 20}, tc.servers, lists)
		var exposed, missing []string
		for _, tool := range all.All() {
			exposed = append(exposed, tool.Exposed)
		}
		for _, p := range all.Missing(path, set) {
			_, name, _ := strings.Cut(p.Message, `a tool "`)
			missing = append(missing, strings.TrimSuffix(name, `"`))
			if p.Line < 5 || p.File != path {
				t.Errorf("it has no place: %+v", p)
			}
		}
		if fmt.Sprint(exposed) != "["+tc.exposed+"]" || fmt.Sprint(missing) != "["+tc.want+"]" {
			t.Errorf("%+v: got %v, missing %v", tc, exposed, missing)
		}
	}
}

// TestIn: a view's tools are those that clients get: pins first, under the names of the view, and
// without those that it cannot show.
func TestIn(t *testing.T) {
	gh := []json.RawMessage{
		json.RawMessage(`{"name":"get","annotations":{"readOnlyHint":true}}`), json.RawMessage(`{"name":"file","description":"D","inputSchema":{"type":"object","properties":{"owner":{}}}}`),
		json.RawMessage(`{"name":"odd","inputSchema":{"type":"object","allOf":[]}}`), json.RawMessage(`{"name":"clash"}`),
	}
	all, trusted := find.OfServers(settings.Serve{Prefix: true}, []config.Entry{{Name: "gh", TrustAnnotations: true}, {Name: "fs"}}, []find.List{
		{Server: "gh", Items: gh}, {Server: "fs", Items: []json.RawMessage{json.RawMessage(`{"name":"ls","annotations":{"readOnlyHint":true}}`)}},
	})
	set, err := views.New(map[string]views.Config{
		"bugs": {Pin: []string{"fs__ls", "gh__none"}, Override: map[string]views.Override{
			"gh__file":  {Name: "bug", Title: "T", Arguments: map[string]views.Argument{"owner": {Value: json.RawMessage(`1`)}}},
			"gh__odd":   {Arguments: map[string]views.Argument{"a": {Hide: true}}},
			"gh__clash": {Name: "gh__get"},
		}},
		"look": {Only: views.ReadOnly},
	}, "")
	require.NoError(t, err)
	for view, want := range map[string]string{
		"bugs": `[{"name":"fs__ls","annotations":{"readOnlyHint":true}} {"name":"gh__get","annotations":{"readOnlyHint":true}} {"title":"T","name":"bug","description":"D","inputSchema":{"type":"object","properties":{}}}] 1 bug`,
		"look": `[{"name":"gh__get","annotations":{"readOnlyHint":true}}] 0 gh__get`,
	} {
		shown, pinned := all.In(set.View(view), trusted)
		definitions, tools := find.Decoded(shown)
		if got := fmt.Sprintf("%s %d %s", definitions, pinned, tools[len(tools)-1].Name); got != want {
			t.Errorf("%s: got %s\nwant %s", view, got, want)
		}
	}
}
