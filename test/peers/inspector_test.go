//go:build integration

package peers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
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
		"stdio legacy": {"--protocol-era", "legacy", "-e", "MCPCTL_CONFIG=" + config, "-e", "MCPCTL_LIST_GRACE=never", binary, "serve"},
		"stdio modern": {"--protocol-era", "modern", "-e", "MCPCTL_CONFIG=" + config, "-e", "MCPCTL_LIST_GRACE=never", binary, "serve"},
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
				steps = steps[1:3] // each starts everything again
			}
			for _, step := range steps {
				inspect(t, step.words, step.want, at...)
			}
		})
	}
}

// inspect runs the Inspector's command line on the server at a place, and looks for
// what its output has to have. It returns the output without spaces.
func inspect(t *testing.T, words, want string, at ...string) string {
	t.Helper()
	ctx := wait.Context(t)
	all := npmtest.Inspector(t, append(append(strings.Fields(words), "--format", "json", "-q"), at...)...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	home := t.TempDir()
	cmd.Env = append(cmd.Environ(), "HOME="+home, "MCP_STORAGE_DIR="+home, "MCP_CATALOG_PATH="+filepath.Join(home, "catalog.json"))
	out, err := cmd.CombinedOutput()
	compact := strings.NewReplacer(" ", "", "\n", "").Replace(string(out))
	if err != nil && !strings.Contains(want, `"isError":true`) || !strings.Contains(compact, strings.ReplaceAll(want, " ", "")) {
		t.Errorf("%s: %v, want %s:\n%.1500s", words, err, want, out)
	}
	return compact
}

// TestInspectorView has the Inspector list the one tool of a view, and call it under the name
// that it has there.
func TestInspectorView(t *testing.T) {
	t.Parallel()
	config := configure(t, fake("fake"))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(config), "config.yaml"), []byte("serve:\n  views:\n    desk: {tools: [fake__echo], override: {fake__echo: {name: say}}}\n"), 0o600))
	url := serveHTTP(t, config).URL
	for name, at := range map[string][]string{
		"stdio": {"-e", "MCPCTL_CONFIG=" + config, "-e", "MCPCTL_LIST_GRACE=never", binary, "serve", "--view", "desk"},
		"http":  {"--transport", "http", "--server-url", url + "/desk"},
	} {
		for _, era := range []string{"legacy", "modern"} {
			if (name == "http") != (era == "modern") && !wire.Nightly() {
				continue
			}
			t.Run(name+" "+era, func(t *testing.T) {
				t.Parallel()
				at := append([]string{"--protocol-era", era}, at...)
				if got := inspect(t, "--method tools/list", `"name":"say"`, at...); strings.Contains(got, `"fake__`) {
					t.Errorf("listed: %.1500s", got)
				}
				inspect(t, "--method tools/call --tool-name say --tool-arg message=hallo", `"hallo"`, at...)
			})
		}
	}
}

// TestInspectorBridge drives mcpctl bridge, in both directions, and a command-line tool
// behind bridge and serve.
func TestInspectorBridge(t *testing.T) {
	t.Parallel()
	tool := configure(t, commandLine(t))
	far := typescript(t, t.TempDir(), "v2", "far", "http", "").object["url"].(string)
	stdio := func(config string, words ...string) []string {
		return append([]string{"-e", "MCPCTL_CONFIG=" + config, "-e", "MCPCTL_HOME=" + t.TempDir(), "-e", "MCPCTL_LIST_GRACE=never", binary}, words...)
	}
	web := func(d *wire.Daemon) []string { return []string{"--transport", "http", "--server-url", d.URL} }
	type step struct{ words, want string }
	server := []step{
		{"--method tools/call --tool-name add --tool-arg a=40 --tool-arg b=2", `"n":42`},
		{"--method tools/call --tool-name fail", `"isError":true`},
		{"--method resources/read --uri far://note", "this is far://note"},
		{"--method prompts/get --prompt-name greet --prompt-args who=Ada", "Greet Ada."},
		{"--method tools/list", `"outputSchema"`},
	}
	act := func(prefix string) []step {
		return []step{
			{"--method tools/call --tool-name " + prefix + `act --tool-arg word=["json={\"n\":42}"]`, `"n":42`},
			{"--method tools/call --tool-name " + prefix + `act --tool-arg word=["exit=3"]`, `"isError":true`},
			{"--method tools/list", `"` + prefix + `config_set"`},
		}
	}
	for name, c := range map[string]struct {
		at    func(t *testing.T) []string
		steps []step
		era   string // without make nightly, with which the others come
		daily int    // so many of the steps, likewise
	}{
		"bridge URL": {func(*testing.T) []string { return stdio(configure(t), "bridge", far) }, server, "modern", 1},
		"bridge --http": {func(t *testing.T) []string {
			words := commandOf(typescript(t, t.TempDir(), "v1", "far", "stdio", ""))
			return web(bridgeHTTP(t, configure(t), append([]string{"--"}, words...)...))
		}, server, "legacy", 1},
		"cli behind serve":  {func(t *testing.T) []string { return web(serveHTTP(t, tool)) }, act("kit__"), "legacy", 1},
		"cli behind bridge": {func(*testing.T) []string { return stdio(tool, "bridge", "kit") }, act(""), "modern", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, eras := c.steps, []string{"legacy", "modern"}
			if !wire.Nightly() {
				steps, eras = steps[:c.daily], []string{c.era}
			}
			at := c.at(t)
			for _, era := range eras {
				for _, step := range steps {
					inspect(t, step.words, step.want, append([]string{"--protocol-era", era}, at...)...)
				}
			}
		})
	}
}
