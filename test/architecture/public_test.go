package architecture_test

import (
	"flag"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/api"
)

var update = flag.Bool("update", false, "write testdata/api.txt of each public package")

// public returns the packages that a program of another module can import. Left out are
// programs, tests, separate modules, and the sample clients in generated.
func public(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, f := range tree(t) {
		first, _, _ := strings.Cut(f.pkg, "/")
		switch {
		case first == "test" || first == "docs" || first == "generated" || f.pkg == "runtime/gosdk":
		case slices.Contains(strings.Split(f.pkg, "/"), "internal") || f.syntax.Name.Name == "main":
		default:
			found[f.pkg] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestPublic compares the public packages with the list of the page: one that is added is
// a promise to users of the library.
func TestPublic(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|").FindAllStringSubmatch(section(t, "Public packages"), -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if there := public(t); !slices.Equal(there, listed) {
		t.Errorf("the module has the public packages\n%q\n%s lists\n%q", there, architecture, listed)
	}
}

// TestAPI compares the exported API of each public package with its testdata/api.txt: it is
// a promise of semantic versioning, and a diff shows each change. After an intended change:
// go test ./test/architecture -run TestAPI -update.
func TestAPI(t *testing.T) {
	t.Parallel()
	for _, pkg := range public(t) {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			api.Check(t, filepath.Join("..", "..", filepath.FromSlash(pkg)), *update)
		})
	}
}
