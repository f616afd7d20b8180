// Package architecture_test holds the imports between the areas of the program to one
// direction, and docs/architecture.md to the code that it names.
package architecture_test

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

const module = "github.com/mcpctl/mcpctl/"

var parseOnce = sync.OnceValues(func() ([]source, error) { return readSources(filepath.Join("..", "..")) })

// tree returns the sources of the module, parsed once for all tests.
func tree(t *testing.T) []source {
	t.Helper()
	files, err := parseOnce()
	require.NoError(t, err)
	return files
}

// TestImports checks each file of each system. Circles within an area are an error of the
// compiler already.
func TestImports(t *testing.T) {
	t.Parallel()
	for _, v := range violations(areas(), tree(t)) {
		t.Error(v)
	}
}

// TestAreas checks the table: the areas can be put into an order in which each uses only
// those before it, and no use is written down that nothing makes.
func TestAreas(t *testing.T) {
	t.Parallel()
	used := map[string]bool{} // "area other" and "area module"
	for _, f := range tree(t) {
		a, ok := find(areas(), f.pkg)
		for _, imp := range f.imports {
			if own, inside := strings.CutPrefix(imp, module); inside && ok {
				to, _ := find(areas(), own)
				used[a.name+" "+to.name] = true
			}
			for m := range strings.FieldsSeq(a.modules) {
				used[a.name+" "+m] = used[a.name+" "+m] || matches(m+"/...", imp)
			}
		}
	}
	var names []string
	for _, a := range areas() {
		for other := range strings.FieldsSeq(a.uses + " " + a.modules) {
			if !used[a.name+" "+other] {
				t.Errorf("%s uses nothing of %s: take it out", a.name, other)
			}
		}
		if !slices.Contains(names, a.name) {
			names = append(names, a.name)
		}
	}
	for len(names) > 0 {
		n := len(names)
		names = slices.DeleteFunc(names, func(name string) bool {
			return !slices.ContainsFunc(areas(), func(a area) bool {
				return a.name == name && slices.ContainsFunc(strings.Fields(a.uses), func(u string) bool { return slices.Contains(names, u) && u != name })
			})
		})
		if len(names) == n {
			t.Fatalf("these areas use one another in a circle: %v", names)
		}
	}
}

// violations returns a sentence for each import that the table does not allow.
func violations(table []area, files []source) []string {
	var out []string
	for _, f := range files {
		a, ok := find(table, f.pkg)
		switch {
		case strings.HasPrefix(f.pkg, "test/") || strings.HasPrefix(f.pkg, "docs/"):
			continue // programs for measuring, and examples: they use everything
		case !ok:
			out = append(out, f.file+": package "+f.pkg+" belongs to no area of test/architecture/table_test.go")
			continue
		}
		for _, imp := range f.imports {
			if why := forbidden(table, a, imp); why != "" {
				out = append(out, fmt.Sprintf("%s: imports %s: %s", f.file, imp, why))
			}
		}
	}
	return out
}

// forbidden returns why a file of an area must not import a package; "" if it may.
func forbidden(table []area, a area, imp string) string {
	first, _, _ := strings.Cut(imp, "/")
	own, inside := strings.CutPrefix(imp, module)
	to, known := find(table, own)
	switch {
	case imp == "C":
		return "the product is built without cgo"
	case inside && !known:
		return "it belongs to no area of test/architecture/table_test.go"
	case inside && to.name != a.name && !slices.Contains(strings.Fields(a.uses), to.name):
		return fmt.Sprintf("%s does not use %s", a.name, to.name)
	case !inside && strings.Contains(first, ".") && !slices.ContainsFunc(strings.Fields(a.modules), func(m string) bool { return matches(m+"/...", imp) }):
		return a.name + " does not use this module"
	case slices.Contains(strings.Fields(a.not), imp):
		return a.name + " must not import it"
	}
	return ""
}

// find returns the first area that has a package.
func find(table []area, pkg string) (area, bool) {
	for _, a := range table {
		for pattern := range strings.FieldsSeq(a.packages) {
			if matches(pattern, pkg) {
				return a, true
			}
		}
	}
	return area{}, false
}

func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == pattern
}

// TestImportsCatch shows the check one made-up import of each kind.
func TestImportsCatch(t *testing.T) {
	t.Parallel()
	for imp, want := range map[string]string{
		"runtime/dial runtime/transport":                        "",
		"runtime/proxy runtime/proxy/internal/httpserver":       "",
		"runtime internal/rawjson":                              "",
		"cmd/internal/cli github.com/spf13/cobra":               "",
		"scaffold/gogen github.com/dave/jennifer/jen":           "",
		"test/eras cmd/internal/cli":                            "",
		"runtime/transport runtime/dial":                        "transport does not use dial",
		"runtime/proxy runtime/dial":                            "proxy does not use dial",
		"runtime/proxy/internal/upstream runtime/proxy":         "backend does not use proxy",
		"scaffold cmd/internal/ui":                              "scaffold does not use console",
		"cmd/internal/cli runtime/gosdk":                        "cli does not use gosdk",
		"runtime/new strings":                                   "package runtime/new belongs to no area",
		"runtime/proxy runtime/new":                             "it belongs to no area",
		"runtime net/http":                                      "must not import it",
		"internal/access/policy os":                             "must not import it",
		"runtime/config github.com/spf13/cobra":                 "does not use this module",
		"runtime/dial github.com/modelcontextprotocol/go-sdk/m": "does not use this module",
		"internal/store C":                                      "without cgo",
	} {
		pkg, imported, _ := strings.Cut(imp, " ")
		if _, own := find(areas(), imported); own || imported == "runtime/new" {
			imported = module + imported
		}
		f, err := parseSource("x.go", pkg+"/x.go", fmt.Sprintf("package %s; import _ %q", path.Base(pkg), imported))
		require.NoError(t, err)
		got := violations(areas(), []source{f})
		if (want != "") != (len(got) == 1) || len(got) > 1 || want != "" && !strings.Contains(got[0], want) {
			t.Errorf("%s: got %q, want %q", imp, got, want)
		}
	}
}
