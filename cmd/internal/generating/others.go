package generating

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/scaffold/gogen"
)

// goFile is a file in a package's directory that is not generated.
type goFile struct {
	path string
	data []byte
}

// checkOthers refuses a directory in which the package would not compile: one with
// another package, or with the same declarations. A double's name follows from the
// package's. Files that are not valid Go are ignored.
func checkOthers(dir, pkg string, double bool, files []gogen.File, others []goFile) error {
	if len(others) == 0 {
		return nil
	}
	var declared map[string]bool // nil: not computed yet
	for _, file := range others {
		if ignored(file.data) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.path, file.data, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		test := strings.HasSuffix(file.path, "_test.go")
		name := f.Name.Name
		if test {
			name = strings.TrimSuffix(name, "_test")
		}
		if name != pkg {
			e := &ui.Error{Err: fmt.Errorf("%s holds package %s (%s), and a folder can hold one: not %s", dir, name, file.path, pkg)}
			if double {
				return e.WithHint("choose another folder with --out, or move the file away")
			}
			return e.WithHint("choose another folder with --out, or --package %s", name)
		}
		if declared == nil {
			declared = map[string]bool{}
			for _, own := range files {
				if !strings.HasSuffix(own.Name, ".go") {
					continue
				}
				if code, err := parser.ParseFile(token.NewFileSet(), "", own.Data, parser.SkipObjectResolution); err == nil { // always
					for _, d := range topLevel(code) {
						declared[d] = true
					}
				}
			}
		}
		if f.Name.Name != pkg {
			continue // an external test
		}
		for _, d := range topLevel(f) {
			if declared[d] {
				e := &ui.Error{Err: fmt.Errorf("%s declares %s, as does the generated code", file.path, d)}
				return e.WithHint("rename it, or choose another folder with --out")
			}
		}
	}
	return nil
}

// ignored reports whether a file is never part of the package, such as a program for
// go run.
func ignored(data []byte) bool {
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "package ") {
			return false
		}
		if !constraint.IsGoBuild(text) {
			continue
		}
		expr, err := constraint.Parse(text)
		return err == nil && !expr.Eval(func(tag string) bool { return tag != "ignore" })
	}
	return false
}

// topLevel returns the names that a file declares in its package.
func topLevel(f *ast.File) []string {
	var out []string
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.Name != "_" {
				out = append(out, id.Name)
			}
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					add(spec.Names...)
				}
			}
		}
	}
	return out
}
