package gogen_test

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden generates a client for each folder of testdata and compares it
// with client_gen.go there, and what it could not type with warnings.txt. The
// result must be formatted, compile, and come out the same from its own
// tools.json.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/tools.json")
	if err != nil || len(dirs) < 8 {
		t.Fatalf("got %d cases, %v", len(dirs), err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			out := generate(t, filepath.Base(dir), readFile(t, path))
			source := string(file(t, out, gogen.SourceFile))
			checkSource(t, source)

			again := generate(t, filepath.Base(dir), file(t, out, gogen.LockFile))
			if diff := cmp.Diff(out, again); diff != "" {
				t.Errorf("generating from the tools.json it wrote differs (-first +second):\n%s", diff)
			}
			var warnings strings.Builder
			for _, w := range out.Warnings {
				warnings.WriteString(w.String() + "\n")
			}
			golden(t, filepath.Join(dir, "warnings.txt"), warnings.String())
			golden(t, filepath.Join(dir, gogen.SourceFile), source)
		})
	}
}

// TestSamples wants the committed sample clients to be what their lock file
// gives.
func TestSamples(t *testing.T) {
	paths, err := filepath.Glob("../../generated/*/mcpctl.lock.json")
	if err != nil || len(paths) < 3 {
		t.Fatalf("got %d samples, %v", len(paths), err)
	}
	for _, path := range paths {
		dir := filepath.Dir(path)
		out := generate(t, filepath.Base(dir), readFile(t, path))
		for _, f := range out.Files {
			if diff := cmp.Diff(string(readFile(t, filepath.Join(dir, f.Name))), string(f.Data)); diff != "" {
				t.Errorf("%s/%s differs, go generate ./... writes it anew (-there +now):\n%s", dir, f.Name, diff)
			}
		}
		checkSource(t, string(file(t, out, gogen.SourceFile)))
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		var err error
		if got == "" {
			if err = os.Remove(path); errors.Is(err, os.ErrNotExist) {
				err = nil
			}
		} else {
			err = os.WriteFile(path, []byte(got), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got), go test -update to accept:\n%s", path, diff)
	}
}

func generate(t *testing.T, server string, tools []byte) *gogen.Output {
	t.Helper()
	list, err := gogen.ParseTools(tools)
	if err != nil {
		t.Fatal(err)
	}
	out, err := gogen.Generate(gogen.Input{Server: server, Implementation: list.Implementation, Tools: list.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func file(t testing.TB, out *gogen.Output, name string) []byte {
	t.Helper()
	for _, f := range out.Files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("no file %s", name)
	return nil
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkSource wants source to be formatted, to import nothing it may not, to
// compile, and to document what it exports.
func checkSource(t testing.TB, source string) {
	t.Helper()
	formatted, err := format.Source([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if string(formatted) != source {
		t.Errorf("not formatted:\n%s", cmp.Diff(string(formatted), source))
	}
	if !strings.HasPrefix(source, gogen.Header+"\n") {
		t.Errorf("the first line is not the header")
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, gogen.SourceFile, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, imp := range parsed.Imports {
		switch imp.Path.Value {
		case `"context"`, `"encoding/json"`, `"iter"`, `"slices"`, `"github.com/mcpctl/mcpctl/runtime"`,
			`"github.com/mcpctl/mcpctl/runtime/codegen"`, `"github.com/mcpctl/mcpctl/runtime/schema"`:
		default:
			t.Errorf("imports %s", imp.Path.Value)
		}
	}
	for _, group := range parsed.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "// ") && c.Text != "//" {
				t.Errorf("a comment that Go could take for a directive: %q", c.Text)
			}
		}
	}
	checkDocumented(t, parsed)
	imports, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: imports}
	if _, err := conf.Check("generated", fset, []*ast.File{parsed}, nil); err != nil {
		t.Errorf("does not compile: %v", err)
	}
}

func checkDocumented(t testing.TB, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil {
				t.Errorf("func %s has no comment", d.Name)
			}
		case *ast.GenDecl:
			if (d.Tok == token.TYPE || d.Tok == token.CONST) && d.Doc == nil {
				t.Errorf("a declaration at %d has no comment", d.Pos())
			}
		}
	}
}

// exportData maps the packages that generated code imports to what the
// compiler wrote about them.
func exportData() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"github.com/mcpctl/mcpctl/runtime/codegen", "github.com/mcpctl/mcpctl/runtime/schema", "context", "encoding/json", "iter", "slices").Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, name, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = name
	}
	return files, nil
}

// imports reads that, once a package for all tests.
type imports struct {
	mu sync.Mutex // guards of
	of types.Importer
}

// Import implements types.Importer.
func (i *imports) Import(path string) (*types.Package, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.of.Import(path)
}

var exports = sync.OnceValues(func() (*imports, error) {
	files, err := exportData()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return &imports{of: importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})}, nil
})
