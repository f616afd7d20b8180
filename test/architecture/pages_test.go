package architecture_test

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

const architecture = "docs/architecture.md"

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// section returns what stands below a heading of the architecture page.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, _ := strings.Cut(page(t, architecture), "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

var rowRE = regexp.MustCompile("(?m)^\\| (.*?) \\| `?(.*?)`? \\| `?(.*?)`? \\|$")

// rows returns the three cells of each row of a section's table, without its head.
func rows(t *testing.T, heading string, least int) [][]string {
	t.Helper()
	out := rowRE.FindAllStringSubmatch(section(t, heading), -1)
	if all := strings.Count(section(t, heading), "\n| "); len(out) != all || all <= least {
		t.Fatalf("%q has %d rows, %d of them of three columns, want more than %d", heading, all, len(out), least)
	}
	return out[1:] // the row of dashes has no space
}

// TestWhere opens each file that the page names for a behaviour and looks for
// the declaration.
func TestWhere(t *testing.T) {
	t.Parallel()
	files := map[string]source{}
	for _, f := range tree(t) {
		files[f.file] = f
	}
	for _, row := range rows(t, "Where do I find it", 20) {
		if f, ok := files[row[2]]; !ok {
			t.Errorf("%s there is no file %s", row[1], row[2])
		} else if declared(f)[row[3]] == nil {
			t.Errorf("%s %s does not declare %s", row[1], row[2], row[3])
		}
	}
}

// TestWalk looks for what the walks name.
func TestWalk(t *testing.T) {
	t.Parallel()
	all := map[string]ast.Node{}
	for _, f := range tree(t) {
		if production(f) {
			maps.Copy(all, declared(f))
		}
	}
	for _, heading := range []string{"The walk of one call", "The walk of add", "The walk of generate"} {
		named := regexp.MustCompile("`(\\w+\\.([\\w.]+))`").FindAllStringSubmatch(section(t, heading), -1)
		for _, m := range named {
			if all[m[2]] == nil && all[m[1]] == nil {
				t.Errorf("%s names %s, which nothing declares", heading, m[1])
			}
		}
		if len(named) < 5 {
			t.Errorf("%s names %d declarations", heading, len(named))
		}
	}
}

// pathRE is a code span that looks like a path of the repository. NAME and the
// like stand for any name.
var pathRE = regexp.MustCompile("`((?:cmd|docs|generated|internal|registry|runtime|scaffold|schemas|test|\\.ci)/[^` ]+)`")

// TestPaths looks for the files and folders that pages for contributors name.
func TestPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "CONTRIBUTING.md", architecture} {
		for _, m := range pathRE.FindAllStringSubmatch(page(t, name), -1) {
			pattern := regexp.MustCompile(`[A-Z]{3,}`).ReplaceAllString(m[1], "*")
			if path.Ext(m[1]) == ".md" {
				pattern = m[1]
			}
			found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
			if err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
}
