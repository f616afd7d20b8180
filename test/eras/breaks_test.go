package eras_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
)

const module = "../.."

// mistakes are the breakages as package breaks makes them.
var mistakes = func() *breaks.Suite {
	s := &breaks.Suite{Module: module, Page: "test/reports/eras-breaks.md", Head: breaksHead, Red: redLines, Row: breakRow}
	for _, b := range breakages() {
		s.Breaks = append(s.Breaks, breaks.Break{Name: b.name, Below: b.below, Edits: b.edits, Red: b.lines})
	}
	s.Flags()
	return s
}()

// TestBreaks makes one mistake after another and checks that the lines it names
// turn red. It takes minutes: make eras-breaks.
func TestBreaks(t *testing.T) { mistakes.Run(t) }

const breaksHead = `# Deliberate mistakes in the code between the eras

Each row is a deliberate mistake in the code that joins the eras, and the checks of [eras.md](eras.md) that fail with it. They
run with four fronts and four backends, or with those that the mistake concerns. ` + "`make eras-breaks`" + ` makes all mistakes again and
rewrites this page.

| mistake | file | cells | lines |
|---|---|---|---|
`

// breakRow names lines, and those that are nearly all by their number.
func breakRow(i int, files []string, red map[string]int) string {
	cells, names := 0, strings.Join(slices.Sorted(maps.Keys(red)), ", ")
	for _, n := range red {
		cells += n
	}
	if len(red) > 20 {
		names = fmt.Sprintf("%d lines", len(red))
	}
	return fmt.Sprintf("| %s | %s | %d | %s |\n", breakages()[i].name, strings.TrimPrefix(strings.Join(files, ", "), "runtime/"), cells, names)
}

// redLines builds the tests with a mistake and counts the cells that fail, by
// their line.
func redLines(t *testing.T, i int, overlay string) (map[string]int, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "eras.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", overlay, "-c", "-o", program, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	pairs := breakages()[i].pairs
	if pairs == "" {
		pairs = fourSides
	}
	run := "TestEras/pairs/" + pairs + "/" + breaks.Any(slices.DeleteFunc(lineNames(), func(l string) bool { return l == "image" }))
	// That tests fail is what is wanted.
	out, _ := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", run, "-limit", "3s", "-settling", "8s").CombinedOutput()
	return breaks.Failed(out, `TestEras/pairs/[a-z0-9-]+/[a-z0-9-]+/([a-z0-9-]+)`), nil
}

func lineNames() (names []string) {
	for _, l := range lines() {
		names = append(names, l.name)
	}
	return names
}
