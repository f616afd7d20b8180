package settings_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestSourcesHideCredentials: where registries come from is shown without what is sent to
// them.
func TestSourcesHideCredentials(t *testing.T) {
	home := t.TempDir()
	all, err := settings.Sources(settings.Options{Getenv: func(name string) string {
		return map[string]string{
			"MCPCTL_HOME":     home,
			"MCPCTL_REGISTRY": "https://me:hush@a.example\n" + `{"url":"https://b.example","headers":{"Authorization":"Bearer hush"}}` + "\n{hush",
		}[name]
	}})
	require.NoError(t, err)
	for _, s := range all {
		if s.Name == "registry" && (strings.Contains(s.Value, "hush") || !strings.Contains(s.Value, "a.example") || !strings.Contains(s.Value, "{https://b.example…}, {…}")) {
			t.Errorf("got %q", s.Value)
		}
	}
}
