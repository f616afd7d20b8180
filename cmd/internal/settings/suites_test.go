package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestSuites: what whole suites run with, which only make nightly does, is taken.
func TestSuites(t *testing.T) {
	for _, name := range []string{"MCPCTL_TEST_POLICY", "MCPCTL_TEST_VIEWS", "MCPCTL_TEST_AUDIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "1")
			dir := t.TempDir()
			require.NoError(t, wire.Allow(dir))
			text, err := os.ReadFile(filepath.Join(dir, settings.FileName))
			require.NoError(t, err)
			if _, err := (run{file: string(text)}).load(t); err != nil {
				t.Error(err)
			}
		})
	}
}
