package cli_test

import (
	"strings"
	"testing"
)

// TestUnknownViews: a view that does not exist, or that a flag cannot mean, is one line and wrong usage, before any server
// is started; a name that is close is suggested.
func TestUnknownViews(t *testing.T) {
	home(t, map[string]string{
		"servers.json": `{"mcpServers": {"never": {"command": "this-is-not-there"}}}`,
		"config.yaml":  "serve:\n  views:\n    coding: {}\n    small: {budget: 1}\n",
	})
	for _, command := range []string{"budget", "budget --check", "budget --check --limit 5", "tools", "generate", "generate --lang ts", "generate --lang py --check --out x.py"} {
		for name, says := range map[string][2]string{
			"nope":         {`there is no view "nope"`, "see mcpctl config get serve.views"},
			"Coding":       {`there is no view "Coding"`, "did you mean coding? see mcpctl config get serve.views"},
			"a\nb\x1b[31m": {`there is no view "a\nb\x1b[31m"`, "see mcpctl config get serve.views"},
			"":             {`invalid argument "" for "--view" flag: want the name of a view`, "mcpctl " + strings.Fields(command)[0] + " --help"},
		} {
			got := run(append(strings.Fields(command), "--view", name)...)
			if want := "mcpctl: " + says[0] + "\nhint: " + says[1] + "\n"; got.code != 2 || got.errOut != want || got.out != "" {
				t.Errorf("%s --view %q: got %+v, want %s", command, name, got, want)
			}
		}
	}
	run("budget", "--check", "--view", "coding").fails(t, 2, "view coding has no budget, and --check needs one", "--limit 20000")
	home(t, nil)
	run("budget", "--view", "coding").fails(t, 2, `there is no view "coding"`, "config.yaml has no serve.views")
}
