//go:build integration

package declare_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestTypeScript: the compiler accepts each module, with all that it checks.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := npmtest.TypeScript(t, "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--target", "es2022")
	for name, s := range map[string]*declare.Source{"hostile": attacked(), "names": names(), "small": small(), "corpus": corpus(t)} {
		for _, l := range []declare.Language{declare.TypeScript, declare.Types} {
			file := filepath.Join(dir, name+string(l[0])+"."+string(l))
			require.NoError(t, os.WriteFile(file, s.Write(l), 0o600))
			words = append(words, file)
		}
	}
	tsc := exec.CommandContext(t.Context(), words[0], words[1:]...)
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out[:min(len(out), 4000)])
	}
}
