package viewing_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/viewing"
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
		all := viewing.Of(settings.Serve{Prefix: tc.prefix, NameOverhead: 20}, tc.servers, lists)
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
