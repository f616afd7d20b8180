package eras_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
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
	chosen    = flag.String("breaks", "", "a regular expression: make the mistakes whose names match, and see what turns red")
	breaksDoc = flag.Bool("breaks-update", false, "with -breaks, rewrite docs/eras-breaks.md")
)

const (
	module        = "../.."
	breaksDocFile = module + "/docs/eras-breaks.md"
)

// source is the module's, in which mistakes are made.
func source(t *testing.T) *breaks.Tree {
	t.Helper()
	tree, err := breaks.Load(module)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestBreaksFit keeps the list of mistakes from going stale: each can still be
// made, and names lines that exist.
func TestBreaksFit(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, l := range lines() {
		known[l.name] = true
	}
	tree := source(t)
	for _, b := range breakages() {
		if _, err := tree.Broken(b.below, b.edits...); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
		for _, l := range b.lines {
			if !known[l] {
				t.Errorf("%s: no line %s", b.name, l)
			}
		}
	}
	if n := len(breakages()); n < 20 {
		t.Errorf("%d mistakes, want at least 20", n)
	}
}

// TestBreaks makes one mistake after another and wants the lines it names to
// turn red. It takes minutes: make eras-breaks.
func TestBreaks(t *testing.T) {
	if *chosen == "" {
		t.Skip("without -breaks")
	}
	match := regexp.MustCompile(*chosen).MatchString
	tree, dir := source(t), t.TempDir()
	var page bytes.Buffer
	page.WriteString(breaksHead)
	for i, b := range breakages() {
		if !match(b.name) {
			continue
		}
		broken, err := tree.Broken(b.below, b.edits...)
		if err != nil {
			t.Error(err)
			continue
		}
		overlay, err := tree.Overlay(dir, broken)
		if err != nil {
			t.Fatal(err)
		}
		red := redCells(t, dir, b, overlay)
		byLine := map[string]int{}
		for _, c := range red {
			byLine[c.line]++
		}
		for _, l := range b.lines {
			if byLine[l] == 0 {
				t.Errorf("%s: no cell of %s turns red, only %v", b.name, l, byLine)
			}
		}
		t.Logf("%d of %d: %s: %d cells: %v", i+1, len(breakages()), b.name, len(red), byLine)
		fmt.Fprintf(&page, "| %s | %s | %d | %s |\n", b.name, strings.TrimPrefix(strings.Join(slices.Sorted(maps.Keys(broken)), ", "), "runtime/"), len(red), briefly(byLine))
	}
	if *breaksDoc && !t.Failed() {
		if err := os.WriteFile(breaksDocFile, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const breaksHead = `# What would turn red

Each row is a mistake made on purpose in the code that joins the eras, one at a time, and the lines of
[eras.md](eras.md) whose cells fail with it. Four fronts and four backends are looked at, or those that the mistake is
about. ` + "`make eras-breaks`" + ` makes them all again and rewrites this page; a test sees to it that each can still be made.

| mistake | file | cells | lines |
|---|---|---|---|
`

// briefly names lines, and those that are nearly all by their number.
func briefly(byLine map[string]int) string {
	if len(byLine) > 20 {
		return fmt.Sprintf("%d lines", len(byLine))
	}
	return strings.Join(slices.Sorted(maps.Keys(byLine)), ", ")
}

// redCells builds the tests with files replaced and gives the cells that fail.
func redCells(t *testing.T, dir string, b breakage, overlay string) []cell {
	t.Helper()
	program := filepath.Join(dir, "eras.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-c", "-o", program, ".").CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", b.name, err, out)
		return nil
	}
	pairs := b.pairs
	if pairs == "" {
		pairs = fourSides
	}
	run := "TestEras/pairs/" + pairs + "/" + everyLineBut("image")
	// That tests fail is what is wanted.
	out, _ := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", run, "-limit", "3s", "-settling", "8s").CombinedOutput()
	var red []cell
	for _, m := range regexp.MustCompile(`--- FAIL: TestEras/pairs/([a-z0-9-]+)/([a-z0-9-]+)/([a-z0-9-]+) `).FindAllSubmatch(out, -1) {
		red = append(red, cell{string(m[3]), string(m[1]), string(m[2])})
	}
	return red
}

// everyLineBut gives a regular expression of the names of lines.
func everyLineBut(other string) string {
	var names []string
	for _, l := range lines() {
		if l.name != other {
			names = append(names, l.name)
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}
