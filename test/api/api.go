// Package api holds the exported API of a package to a file in its testdata,
// so that every change of the API is seen in a diff.
package api

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is where the file lies below the folder of the package.
const golden = "testdata/api.txt"

// Check compares the exported API of the package in the working folder, which
// is the one under test, with its testdata/api.txt. With update it writes the
// file instead.
func Check(t *testing.T, update bool) {
	t.Helper()
	got := exported(t, ".")
	if update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the exported API has changed (-want +got):\n%s\nif that is intended: go test . -run '^TestAPI$' -update", diff)
	}
}

// exported returns the exported declarations of the package in a folder,
// without comments and function bodies, sorted.
func exported(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var decls []string
	fset := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			if text := declaration(t, fset, d); text != "" {
				decls = append(decls, text)
			}
		}
	}
	slices.Sort(decls)
	return strings.Join(decls, "\n") + "\n"
}

func declaration(t *testing.T, fset *token.FileSet, d ast.Decl) string {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Doc, d.Body = nil, nil
		if d.Recv != nil && !exportedReceiver(d.Recv) {
			return ""
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || len(d.Specs) == 0 {
			return ""
		}
		d.Doc = nil
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				s.Doc, s.Comment = nil, nil
			case *ast.ValueSpec:
				s.Doc, s.Comment = nil, nil
			}
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			f.Doc, f.Comment = nil, nil
		}
		return true
	})
	var b bytes.Buffer
	if err := format.Node(&b, fset, d); err != nil {
		t.Fatal(err)
	}
	return withoutBlankLines(b.String())
}

// withoutBlankLines drops the lines that comments leave behind.
func withoutBlankLines(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

func exportedReceiver(r *ast.FieldList) bool {
	for _, f := range r.List {
		x := f.Type
		for {
			switch t := x.(type) {
			case *ast.StarExpr:
				x = t.X
				continue
			case *ast.IndexExpr:
				x = t.X
				continue
			case *ast.Ident:
				return t.IsExported()
			}
			break
		}
	}
	return false
}
