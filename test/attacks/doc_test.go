package attacks_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestThreatTables: each row of a threat model names tests, and they are there.
func TestThreatTables(t *testing.T) {
	t.Parallel()
	known := testNames(t)
	namesTests(t, known, "security.md", 20)
	namesTests(t, known, "auth.md", 10)
}

// namesTests looks at the last cells of a page's table of threats, whose rows are a
// number at least.
func namesTests(t *testing.T, known map[string]bool, name string, least int) {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	rows, class := 0, regexp.MustCompile("^`(Test[A-Za-z0-9]+)(?:/([a-z]+))?`$")
	inside := false
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case strings.HasSuffix(strings.TrimSpace(line), "the test |"):
			inside = true
			continue
		case len(cells) < 2:
			inside = false
		}
		if !inside || strings.Contains(line, "---") {
			continue
		}
		rows++
		for name := range strings.SplitSeq(cells[len(cells)-1], ",") {
			m := class.FindStringSubmatch(strings.TrimSpace(name))
			if m == nil {
				t.Errorf("%s: %s is no test", strings.TrimSpace(cells[0]), name)
				continue
			}
			if !known[m[1]] {
				t.Errorf("%s: no test %s", strings.TrimSpace(cells[0]), m[1])
			}
			if m[2] != "" && !known["class "+m[2]] {
				t.Errorf("%s: no class %s of attacks", strings.TrimSpace(cells[0]), m[2])
			}
		}
	}
	if rows < least {
		t.Errorf("%s: %d rows, want at least %d", name, rows, least)
	}
}

// testNames returns the names of all tests of the module, whatever their build
// tags, and of the classes of attacks.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	tests := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	classes := regexp.MustCompile(`class\{name: "([a-z]+)"`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range tests.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		if filepath.Base(filepath.Dir(path)) == "attacks" {
			for _, m := range classes.FindAllSubmatch(text, -1) {
				names["class "+string(m[1])] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return names
}
