//go:build attacks && linux

package attacks_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// defences are all breaks, and what fails without them.
var defences = func() *breaks.Suite {
	s := &breaks.Suite{Module: module, Breaks: madeBreaks(), Page: "test/reports/attacks-breaks.md", Head: breaksHead, Red: redCases, Row: breakRow}
	s.Flags()
	return s
}()

// TestBreaks makes one break after another and checks that the cases that it names
// turn red. It takes minutes: make attacks-breaks.
func TestBreaks(t *testing.T) { defences.Run(t) }

const breaksHead = `# Removed defences

Each row removes one defence of [security.md](../../docs/security.md) and names attacks that then succeed. ` + "`make attacks-breaks`" + ` does
that again and rewrites this page.

| defence | break | where | cases that fail | among them |
|---|---|---|---|---|
`

// breakRow names the defence in the first of its rows.
func breakRow(i int, _ []string, red map[string]int) string {
	all := breakages()
	b, first := all[i], all[i].defence
	if i > 0 && all[i-1].defence == first {
		first = ""
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %s |\n", first, b.name, strings.ReplaceAll(b.edits[0].Decl, "|", `\|`), len(red), strings.Join(b.cases, "<br>"))
}

// run is what a break is looked for in: the whole classes of its cases, of those
// classes that are quick, and the cases themselves of the others.
func (b breakage) run() string {
	var names, cases []string
	for _, name := range b.cases {
		class, c, _ := strings.Cut(name, "/")
		names, cases = append(names, class), append(cases, c)
	}
	slices.Sort(names)
	run := "^TestAttacks$/" + breaks.Any(slices.Compact(names))
	for _, slow := range []string{"files", "edits", "processes", "registry", "secrets", "logins", "remotes", "redirects", "listening", "policies", "flows", "pinned", "commanded"} {
		if slices.Contains(names, slow) {
			return run + "/" + breaks.Any(cases)
		}
	}
	return run
}

// unbroken is what is red without any break, by what was run.
var unbroken = map[string]map[string]int{}

// redCases builds the program with a break, and returns the cases that fail with
// it and not without.
func redCases(t *testing.T, i int, overlay string) (map[string]int, error) {
	t.Helper()
	run := breakages()[i].run()
	if unbroken[run] == nil {
		unbroken[run] = red(t, *program, run)
	}
	product, err := wire.Build(t.Context(), filepath.Join(t.TempDir(), "mcpctl"), "github.com/mcpctl/mcpctl/cmd/mcpctl", "-overlay", overlay)
	if err != nil {
		return nil, err
	}
	now := red(t, product, run)
	for name := range unbroken[run] {
		delete(now, name)
	}
	return now, nil
}

// red returns the cases that fail with a program.
func red(t *testing.T, program, run string) map[string]int {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	// That tests fail is what is wanted.
	out, _ := exec.CommandContext(t.Context(), exe, "-test.v", "-test.short", "-test.timeout", "3m", "-test.run", run, "-mcpctl", program).CombinedOutput()
	if bytes.Contains(out, []byte("no tests to run")) {
		t.Errorf("nothing is run by %s", run)
	}
	return breaks.Failed(out, `TestAttacks/(.+/.+)`)
}
