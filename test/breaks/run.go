package breaks

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// Break is a deliberate mistake, and names what has to turn red with it.
type Break struct {
	Name  string
	Below string // the package that the edits are in, or one above it
	Edits []Edit
	Red   []string
}

// Suite makes breaks in the module and looks at what turns red.
type Suite struct {
	Module string
	Breaks []Break
	// Red runs the tests of a break, by its index, with a file for the -overlay
	// flag of go build, and counts what is red by its name.
	Red func(t *testing.T, i int, overlay string) (map[string]int, error)
	// Page is written with Head and the rows of all breaks.
	Page, Head string
	Row        func(i int, files []string, red map[string]int) string

	chosen *string
	update *bool
}

// Flags adds the flags that [Suite.Run] reads.
func (s *Suite) Flags() {
	s.chosen = flag.String("breaks", "", "a regular expression: make the breaks whose names match, and see what turns red")
	s.update = flag.Bool("breaks-update", false, "with -breaks, rewrite "+s.Page)
}

// Run makes one break after another, and checks that what it names turns red.
func (s *Suite) Run(t *testing.T) {
	t.Helper()
	if *s.chosen == "" {
		t.Skip("without -breaks")
	}
	match := regexp.MustCompile(*s.chosen).MatchString
	tree, err := Load(s.Module)
	require.NoError(t, err)
	var page strings.Builder
	page.WriteString(s.Head)
	for i, b := range s.Breaks {
		if !match(b.Name) {
			continue
		}
		files, err := tree.Broken(b.Below, b.Edits...)
		overlay, red := "", map[string]int{}
		if err == nil {
			overlay, err = tree.Overlay(t.TempDir(), files)
		}
		if err == nil {
			red, err = s.Red(t, i, overlay)
		}
		if err != nil {
			t.Errorf("%s: %v", b.Name, err)
			continue
		}
		for _, name := range b.Red {
			if red[Shown(name)] == 0 {
				t.Errorf("%s: %s does not turn red, only %v", b.Name, name, red)
			}
		}
		t.Logf("%d of %d: %s: %d names are red", i+1, len(s.Breaks), b.Name, len(red))
		page.WriteString(s.Row(i, slices.Sorted(maps.Keys(files)), red))
	}
	if *s.update && !t.Failed() {
		require.NoError(t, os.WriteFile(s.Module+"/"+s.Page, []byte(page.String()), 0o644))
	}
}

// Failed counts what the output of go test -v says of failed tests, by the first
// group of an expression for their names.
func Failed(output []byte, name string) map[string]int {
	out := map[string]int{}
	for _, m := range regexp.MustCompile(`--- FAIL: `+name+` \(`).FindAllSubmatch(output, -1) {
		out[string(m[1])]++
	}
	return out
}

// Shown returns a name of a test as package testing writes it.
func Shown(name string) string { return strings.ReplaceAll(name, " ", "_") }

// Any returns the expression of any of these names, as -test.run takes it.
func Any(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(Shown(n))
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}
