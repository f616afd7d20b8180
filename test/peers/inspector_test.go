//go:build integration

package peers_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestInspector drives mcpctl serve with the MCP Inspector's command line, over
// each transport in each era that it has.
func TestInspector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := configure(t,
		typescript(t, dir, "v2", "both", "stdio", ""),
		typescript(t, dir, "v1", "old", "stdio", ""),
	)
	url := serveHTTP(t, config).URL
	for name, at := range map[string][]string{
		"stdio legacy": {"--protocol-era", "legacy", "-e", "MCPCTL_CONFIG=" + config, binary, "serve"},
		"stdio modern": {"--protocol-era", "modern", "-e", "MCPCTL_CONFIG=" + config, binary, "serve"},
		"http legacy":  {"--protocol-era", "legacy", "--transport", "http", "--server-url", url},
		"http modern":  {"--protocol-era", "modern", "--transport", "http", "--server-url", url},
		"sse legacy":   {"--protocol-era", "legacy", "--transport", "sse", "--server-url", strings.TrimSuffix(url, "/mcp") + "/sse"},
	} {
		if name != "stdio modern" && name != "http legacy" && !wire.Nightly() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			steps := []struct{ words, want string }{
				{"--method tools/list", `"both__echo"`},
				{"--method tools/call --tool-name old__echo --tool-arg message=hallo", `"hallo"`},
				{"--method tools/call --tool-name both__add --tool-arg a=40 --tool-arg b=2", `"n":42`},
				{"--method resources/read --uri old://note", "this is old://note"},
				{"--method prompts/get --prompt-name both__greet --prompt-args who=Ada", "Greet Ada."},
			}
			if strings.HasPrefix(name, "stdio") {
				steps = steps[1:3] // each starts everything anew
			}
			for _, step := range steps {
				ctx, cancel := context.WithTimeout(t.Context(), wire.Limit)
				defer cancel()
				words := npmtest.Inspector(t, append(append(strings.Fields(step.words), "--format", "json", "-q"), at...)...)
				cmd := exec.CommandContext(ctx, words[0], words[1:]...)
				home := t.TempDir()
				cmd.Env = append(cmd.Environ(), "HOME="+home, "MCP_STORAGE_DIR="+home, "MCP_CATALOG_PATH="+filepath.Join(home, "catalog.json"))
				out, err := cmd.CombinedOutput()
				compact := strings.NewReplacer(" ", "", "\n", "").Replace(string(out))
				if err != nil || !strings.Contains(compact, strings.ReplaceAll(step.want, " ", "")) {
					t.Errorf("%s: %v, want %s:\n%.1500s", step.words, err, step.want, out)
				}
			}
		})
	}
}
