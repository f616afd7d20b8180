package architecture_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// source is what the checks need to know of one non-test Go file.
type source struct {
	pkg     string // package path inside the module, "" for the root
	file    string
	imports []string
	syntax  *ast.File
}

// readSources parses every non-test Go file under root, those for other
// systems and of modules within it included.
func readSources(root string) ([]source, error) {
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && p != root && (name == "testdata" || name == "node_modules" || strings.ContainsAny(name[:1], "._")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s, err := parseSource(p, filepath.ToSlash(rel), nil)
		out = append(out, s)
		return err
	})
	if err == nil && len(out) < 20 {
		err = fmt.Errorf("found %d Go files under %s: it is not the root of the module", len(out), root)
	}
	return out, err
}

// parseSource parses one file, whose text is src if that is not nil.
func parseSource(file, rel string, src any) (source, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{pkg: strings.TrimPrefix(path.Dir(rel), "."), file: rel, syntax: f}
	for _, imp := range f.Imports {
		s.imports = append(s.imports, strings.Trim(imp.Path.Value, "\"`"))
	}
	return s, nil
}

// production reports whether a file is part of the product or its libraries,
// and written by hand.
func production(f source) bool {
	top, _, _ := strings.Cut(f.pkg, "/")
	return top != "test" && top != "docs" && !ast.IsGenerated(f.syntax)
}

// declared returns what a file declares, by name or Type.Method.
func declared(f source) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			}
			out[name] = d
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out[s.Name.Name] = s
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out[n.Name] = s
					}
				}
			}
		}
	}
	return out
}

// typeName returns the name of a type without pointer and type arguments.
func typeName(x ast.Expr) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(x), "*"), "[")
	return name
}
