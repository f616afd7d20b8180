package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// source is what the checks need to know of one non-test Go file.
type source struct {
	pkg     string // package path inside the module, "" for the root
	name    string // package name
	file    string
	lines   int
	imports []string
	uses    []string // selectors on package os, such as "os.Exit"
	syntax  *ast.File
}

// generated reports whether the file was written by a program.
func (s source) generated() bool { return ast.IsGenerated(s.syntax) }

// readSources parses every non-test Go file under root, those for other
// systems and of modules within it included.
func readSources(root string) ([]source, error) {
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s := describe(filepath.ToSlash(rel), f)
		s.lines = fset.File(f.Pos()).LineCount() - 1 // the file ends with a newline
		out = append(out, s)
		return nil
	})
	if err == nil && len(out) < 20 {
		err = fmt.Errorf("found %d Go files under %s: it is not the root of the module", len(out), root)
	}
	return out, err
}

// describe returns what the checks need of a parsed file.
func describe(rel string, f *ast.File) source {
	s := source{pkg: strings.TrimPrefix(path.Dir(rel), "."), name: f.Name.Name, file: rel, syntax: f}
	osName := ""
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		s.imports = append(s.imports, p)
		if p == "os" {
			osName = "os"
			if imp.Name != nil {
				osName = imp.Name.Name
			}
		}
	}
	if osName == "" {
		return s
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == osName {
			switch sel.Sel.Name {
			case "Stdout", "Args", "Exit":
				s.uses = append(s.uses, "os."+sel.Sel.Name)
			}
		}
		return true
	})
	return s
}
