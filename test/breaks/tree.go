package breaks

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the Go source of a module as it is built on this system, without
// tests, testdata and the modules inside it. It is read once; all methods may be
// called concurrently.
type Tree struct {
	root  string
	files map[string][]byte // by slash-separated path below root
	decls map[string][]decl // by name
}

// decl is where a declaration lies.
type decl struct {
	file       string
	start, end int
}

// Load reads the module whose top folder is root.
func Load(root string) (*Tree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	t := &Tree{root: root, files: map[string][]byte{}, decls: map[string][]decl{}}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (hidden(d.Name()) || isModule(p)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		return t.read(p)
	})
	return t, err
}

func hidden(name string) bool {
	return name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// read notes the declarations of one file, unless it is of another system.
func (t *Tree) read(p string) error {
	if ours, err := build.Default.MatchFile(filepath.Dir(p), filepath.Base(p)); err != nil || !ours {
		return err
	}
	text, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.root, p)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, p, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.files[rel] = text
	add := func(name string, n ast.Node) {
		t.decls[name] = append(t.decls[name], decl{rel, fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(funcName(d), d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name, s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n.Name, s)
					}
				}
			}
		}
	}
	return nil
}

// funcName is the name of a function, with its receiver in front: f, T.f, (*T).f.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) != 1 {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	star, pointer := of.(*ast.StarExpr)
	if pointer {
		of = star.X
	}
	switch x := of.(type) { // without type parameters
	case *ast.IndexExpr:
		of = x.X
	case *ast.IndexListExpr:
		of = x.X
	}
	name := "?"
	if id, ok := of.(*ast.Ident); ok {
		name = id.Name
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + d.Name.Name
}

// find returns the place of an edit: its text must be in the declarations of that
// name below a folder exactly once.
func (t *Tree) find(below string, e Edit) (at decl, err error) {
	known, count := false, 0
	for _, d := range t.decls[e.Decl] {
		if !within(below, d.file) {
			continue
		}
		known = true
		text := string(t.files[d.file][d.start:d.end])
		n := strings.Count(text, e.From)
		if count += n; n > 0 {
			start := d.start + strings.Index(text, e.From)
			at = decl{d.file, start, start + len(e.From)}
		}
	}
	switch {
	case !known:
		return at, fmt.Errorf("%s: no declaration %s", below, e.Decl)
	case count != 1:
		return at, fmt.Errorf("%s: %s has %q %d times, want once", below, e.Decl, e.From, count)
	}
	return at, nil
}

// within reports whether a file is of the package in a folder, or of one below.
func within(folder, file string) bool {
	return folder == "" || strings.HasPrefix(path.Dir(file)+"/", strings.TrimSuffix(folder, "/")+"/")
}

// sorted returns edits from the end of their files to the beginning, and an error
// where two overlap.
func sorted(all []placed) error {
	slices.SortFunc(all, func(a, b placed) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return b.start - a.start
	})
	for i := 1; i < len(all); i++ {
		if all[i].file == all[i-1].file && all[i].end > all[i-1].start {
			return fmt.Errorf("%s: two edits overlap", all[i].file)
		}
	}
	return nil
}
