// Package api pins the exported API of a package in a file of its testdata, so that a diff
// shows each change of the API.
package api

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is where the API of a package is, below the package's folder.
const golden = "testdata/api.txt"

// Check compares the exported API of the package in dir with its testdata/api.txt. With update it
// writes the file instead.
func Check(t *testing.T, dir string, update bool) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(golden))
	got, err := exported(dir)
	if err == nil && update {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the exported API has changed (-want +got):\n%s\nIf that is intended: go test ./test/architecture -run TestAPI -update", diff)
	}
}

var (
	blankLines = regexp.MustCompile(`\n\s*\n`) // what comments leave behind
	ownMethod  = regexp.MustCompile(`^func \((\w+ \*?|\*)?[a-z_]\w*[)\[]`)
)

// exported returns the exported declarations of the package in dir, without comments and
// function bodies, sorted.
func exported(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	var decls []string
	fset := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution) // no comments
		if err != nil {
			return "", err
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
			case *ast.GenDecl:
				if d.Tok == token.IMPORT || len(d.Specs) == 0 {
					continue
				}
			}
			var b bytes.Buffer
			if err := format.Node(&b, fset, d); err != nil {
				return "", err
			}
			if !ownMethod.Match(b.Bytes()) {
				decls = append(decls, blankLines.ReplaceAllString(b.String(), "\n"))
			}
		}
	}
	slices.Sort(decls)
	return strings.Join(decls, "\n") + "\n", nil
}
