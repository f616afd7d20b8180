//go:build attacks && linux

package attacks_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
)

var (
	chosen    = flag.String("breaks", "", "a regular expression: make the breaks whose names match, and see what turns red")
	breaksDoc = flag.Bool("breaks-update", false, "with -breaks, rewrite docs/attacks-breaks.md")
)

const breaksDocFile = "../../docs/attacks-breaks.md"

// TestBreaksNamed: the cases that breaks name are there.
func TestBreaksNamed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range classes() {
		for _, a := range c.cases {
			known[c.name+"/"+a.name] = true
		}
	}
	for _, b := range breakages() {
		for _, name := range b.cases {
			if !known[name] {
				t.Errorf("%s: no case %s", b.name, name)
			}
		}
	}
}

// TestBreaks makes one break after another and wants the cases that it names to
// turn red. It takes minutes: make attacks-breaks.
func TestBreaks(t *testing.T) {
	if *chosen == "" {
		t.Skip("without -breaks")
	}
	match := regexp.MustCompile(*chosen).MatchString
	tree, err := breaks.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]map[string]bool{} // by what was run
	var page bytes.Buffer
	page.WriteString(breaksHead)
	defence := ""
	for i, b := range breakages() {
		if !match(b.name) {
			continue
		}
		run := b.run()
		if before[run] == nil {
			before[run] = red(t, *program, run) // there may be some already
		}
		var now []string
		product, err := broken(t, tree, b)
		if err != nil {
			t.Errorf("%s: %v", b.name, err)
			continue
		}
		for name := range red(t, product, run) {
			if !before[run][name] {
				now = append(now, name)
			}
		}
		slices.Sort(now)
		for _, name := range b.cases {
			if !slices.Contains(now, shown(name)) {
				t.Errorf("%s: %s does not turn red, only %q", b.name, name, now)
			}
		}
		t.Logf("%d of %d: %s: %d cases", i+1, len(breakages()), b.name, len(now))
		first := ""
		if b.defence != defence {
			first, defence = b.defence, b.defence
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %d | %s |\n", first, b.name, strings.ReplaceAll(b.edits[0].Decl, "|", `\|`), len(now), strings.Join(b.cases, "<br>"))
	}
	if *breaksDoc && !t.Failed() {
		if err := os.WriteFile(breaksDocFile, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const breaksHead = `# What holds each defence

Each row takes one defence of [security.md](security.md) out of the program, one at a time, and names cases of the suite
of attacks that fail without it. ` + "`make attacks-breaks`" + ` does that again and rewrites this page; a test checks that
each break can still be made.

| defence | break | where | cases that fail | among them |
|---|---|---|---|---|
`

// run is what a break is looked for in: the whole classes of its cases, of those
// classes that are quick, and the cases themselves of the others.
func (b breakage) run() string {
	var names, cases []string
	for _, name := range b.cases {
		class, c, _ := strings.Cut(name, "/")
		names = append(names, class)
		cases = append(cases, regexp.QuoteMeta(shown(c)))
	}
	slices.Sort(names)
	run := "^TestAttacks$/^(" + strings.Join(slices.Compact(names), "|") + ")$"
	for _, slow := range []string{"files", "edits", "processes", "registry", "secrets", "remotes", "redirects", "listening"} {
		if slices.Contains(names, slow) {
			return run + "/^(" + strings.Join(cases, "|") + ")$"
		}
	}
	return run
}

// shown is a case's name as package testing writes it.
func shown(name string) string { return strings.ReplaceAll(name, " ", "_") }

// broken builds the program with a break in it.
func broken(t *testing.T, tree *breaks.Tree, b breakage) (string, error) {
	t.Helper()
	dir := t.TempDir()
	files, err := tree.Broken(b.below, b.edits...)
	if err != nil {
		return "", err
	}
	overlay, err := tree.Overlay(dir, files)
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "mcpctl")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", out, "github.com/mcpctl/mcpctl/cmd/mcpctl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return out, nil
}

var failed = regexp.MustCompile(`--- FAIL: TestAttacks/(.+/.+) \(`)

// red returns the cases that fail with a program.
func red(t *testing.T, program, run string) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// That tests fail is what is wanted.
	out, _ := exec.CommandContext(t.Context(), exe, "-test.v", "-test.short", "-test.timeout", "3m", "-test.run", run, "-mcpctl", program).CombinedOutput()
	if bytes.Contains(out, []byte("no tests to run")) {
		t.Errorf("nothing is run by %s", run)
	}
	names := map[string]bool{}
	for _, m := range failed.FindAllSubmatch(out, -1) {
		names[string(m[1])] = true
	}
	return names
}
