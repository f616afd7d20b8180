package cli

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// TestSettingsTable: the table of settings has every global flag and every flag of serve,
// and no other.
func TestSettingsTable(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range settings.Table() {
		if s.Flag != "" {
			listed[s.Flag] = true
		}
	}
	root := newRoot(&app{environment: environment{ui: &ui.UI{}}})
	visit := func(f *pflag.Flag) {
		switch f.Name {
		case "help", "version", "env", "cwd": // the last two are of the command behind --
			return
		}
		if !listed[f.Name] {
			t.Errorf("--%s is not in the table of settings", f.Name)
		}
		delete(listed, f.Name)
	}
	root.PersistentFlags().VisitAll(visit)
	subcommand(root, "serve").LocalNonPersistentFlags().VisitAll(visit)
	for name := range listed {
		t.Errorf("--%s is in the table of settings, and no command has it", name)
	}
}
